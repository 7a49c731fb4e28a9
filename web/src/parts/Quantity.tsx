/** Numbers with their units: a dash is unknown, 0 is zero. */

import { type Language, useWords } from "../i18n/words";
import { duration, moment, shortMoment } from "../time/durations";
import { useNow } from "../time/now";

const SHORT_S = 60;
const BYTES = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

export function Quantity({
  value,
  unit,
  digits = 0,
}: {
  value: number | null | undefined;
  unit?: string;
  digits?: number;
}) {
  const { language } = useWords();
  return (
    <span className="number">
      {figure(value, digits, language)}
      {value !== null && value !== undefined && unit ? <span className="quiet"> {unit}</span> : null}
    </span>
  );
}

/** A number as the reader's language writes it. */
export function figure(value: number | null | undefined, digits: number, language: string): string {
  if (value === null || value === undefined || Number.isNaN(value)) return "—";
  return new Intl.NumberFormat(language === "zh" ? "zh-CN" : "en", { maximumFractionDigits: digits }).format(value);
}

/** A length of time; of a short one the tenths count. */
export function brief(seconds: number | null | undefined, language: Language): string {
  if (seconds === null || seconds === undefined) return "—";
  if (seconds >= SHORT_S || Number.isInteger(seconds)) return duration(seconds, language);
  return language === "zh" ? `${figure(seconds, 1, language)} 秒` : `${figure(seconds, 1, language)}s`;
}

/** Bytes in powers of 1024. */
export function bytes(value: number | null | undefined): string {
  if (value === null || value === undefined) return "—";
  const power = value < 1 ? 0 : Math.min(BYTES.length - 1, Math.floor(Math.log2(value) / 10));
  const scaled = value / 1024 ** power;
  return `${scaled >= 100 || power === 0 ? Math.round(scaled) : scaled.toFixed(1)} ${BYTES[power]}`;
}

/** A moment, short; the whole of it where the pointer rests. */
export function Moment({ at }: { at: string | null | undefined }) {
  const now = useNow(60);
  if (!at) return <span>—</span>;
  return (
    <time dateTime={at} title={moment(at)} className="number">
      {shortMoment(at, now)}
    </time>
  );
}
