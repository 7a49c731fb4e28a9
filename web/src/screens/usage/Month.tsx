/** Which month is shown; it stands in the address. Its name is in the console's language, not the browser's. */

import { useNavigate, useSearch } from "@tanstack/react-router";
import { Select } from "antd";
import { type Language, useWords } from "../../i18n/words";
import { now } from "../../time/now";

const MOST = 36;

/** The month of the address, else the present one: `2026-12`. */
export function useMonth(): string {
  return useSearch({ from: "/usage" }).month ?? new Date(now()).toISOString().slice(0, 7);
}

export function Month() {
  const { t, language } = useWords();
  const navigate = useNavigate({ from: "/usage" });
  const month = useMonth();
  return (
    <Select
      style={{ minWidth: 160 }}
      aria-label={t("usage.month")}
      showSearch
      value={month}
      options={[...new Set([...months(now()), month])].map((value) => ({ value, label: monthName(value, language) }))}
      onChange={(next: string) => void navigate({ search: (old) => ({ ...old, month: next }) })}
    />
  );
}

/** The present month and those before it, the newest first. */
export function months(at: number): string[] {
  const today = new Date(at);
  return Array.from({ length: MOST }, (_, back) =>
    new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() - back)).toISOString().slice(0, 7),
  );
}

/** "2026年12月", "December 2026"; what is no month as it is. */
export function monthName(month: string, language: Language): string {
  const at = new Date(`${month}-01T00:00:00Z`);
  if (Number.isNaN(at.getTime())) return month;
  const shape = { year: "numeric", month: "long", timeZone: "UTC" } as const;
  return new Intl.DateTimeFormat(language === "zh" ? "zh-CN" : "en", shape).format(at);
}
