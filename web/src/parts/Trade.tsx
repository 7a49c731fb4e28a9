/** How often to save: the interval that is advised, what it rests on, and what shorter and longer ones cost. */

import type { Schemas } from "../api/client";
import { known, useWords } from "../i18n/words";
import { duration } from "../time/durations";
import { brief, figure } from "./Quantity";
import { Simple } from "./Simple";
import { Storages } from "./Storages";

export function Trade({ seen }: { seen: Schemas["CadenceView"] }) {
  const { t, language } = useWords();
  const edge = seen.edge ? known(`cadence.edge.${seen.edge}`) : null;
  const mode = known(`cadence.mode.${seen.mode}`);
  const basis = {
    ...{ saves: seen.saves, nodes: seen.nodes },
    ...{ blocking: brief(seen.blocking_s, language), mtbf: duration(seen.mtbf_s, language) },
  };
  return (
    <div className="stack">
      <div>
        <strong>{t("cadence.advice", { interval: duration(seen.advised_s, language) })}</strong> {edge ? t(edge) : null}
      </div>
      {seen.present_s == null ? null : (
        <div>
          {t("cadence.present", {
            interval: duration(seen.present_s, language),
            mode: mode ? t(mode) : seen.mode,
          })}{" "}
          {seen.kept ? t("cadence.kept") : null}
        </div>
      )}
      <div className="quiet">{t(seen.saves > 0 ? "cadence.measured" : "cadence.assumed", basis)}</div>
      <Choices trade={seen.trade} />
      <Storages found={seen.storages} />
    </div>
  );
}

function Choices({ trade }: { trade: Schemas["ChoiceView"][] }) {
  const { t, language } = useWords();
  const share = (value: number) => <span className="number">{figure(100 * value, 2, language)} %</span>;
  const note = (one: Schemas["ChoiceView"]) =>
    [one.advised ? t("cadence.advised") : null, one.in_use ? t("cadence.in-use") : null].filter(Boolean).join(" · ");
  const rows = trade.map((one) => ({
    key: String(one.interval_s),
    interval: duration(one.interval_s, language),
    save: share(one.save_share),
    again: share(one.lost_share),
    share: share(one.share),
    fault: duration(one.lost_per_fault_s, language),
    note: <strong>{note(one)}</strong>,
  }));
  return (
    <Simple
      rows={rows}
      columns={[
        ["interval", t("cadence.interval")],
        ["save", t("cadence.save")],
        ["again", t("cadence.again")],
        ["share", t("cadence.share")],
        ["fault", t("cadence.per-fault")],
        ["note", t("cadence.note")],
      ]}
    />
  );
}
