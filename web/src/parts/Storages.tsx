/** What checkpoints lie on: how fast each storage was written and read back, and what a state of this size takes there. */

import type { Schemas } from "../api/client";
import { known, useWords } from "../i18n/words";
import { brief, bytes } from "./Quantity";
import { Simple } from "./Simple";

export function Storages({ found }: { found: Schemas["StorageView"][] }) {
  const { t, language } = useWords();
  if (found.length === 0) return null;
  const rate = (value: number | null) => (value == null ? "—" : `${bytes(value)}/s`);
  const takes = (value: number | null) => (value == null ? "—" : brief(value, language));
  const rows = found.map((one) => ({
    key: one.storage,
    storage: `${t(known(`storage.${one.kind}`) ?? "storage.other")} (${one.storage})`,
    saves: <span className="number">{one.saves}</span>,
    writes: rate(one.write_bytes_per_s),
    save: takes(one.write_s),
    restores: <span className="number">{one.restores}</span>,
    reads: rate(one.restore_bytes_per_s),
    restore: takes(one.restore_s),
    note: <strong>{one.in_use ? t("cadence.in-use") : null}</strong>,
  }));
  return (
    <Simple
      rows={rows}
      columns={[
        ["storage", t("storage.title")],
        ["saves", t("storage.saves")],
        ["writes", t("storage.writes")],
        ["save", t("storage.save")],
        ["restores", t("storage.restores")],
        ["reads", t("storage.reads")],
        ["restore", t("storage.restore")],
        ["note", t("cadence.note")],
      ]}
    />
  );
}
