/** What each failure cost: steps done again, cards idle, seconds by phase; and what other intervals would have cost. */

import { useQuery } from "@tanstack/react-query";
import type { Schemas } from "../../api/client";
import { usePace } from "../../api/live";
import { bills, losses } from "../../api/queries";
import { known, useWords } from "../../i18n/words";
import { Panel } from "../../parts/Page";
import { brief, Moment, Quantity } from "../../parts/Quantity";
import { Simple } from "../../parts/Simple";
import { Data } from "../../parts/states";
import { duration } from "../../time/durations";

const HOUR_S = 3600;
const PHASES = ["detect", "stop", "decide", "retry", "schedule", "start", "load", "first_step"] as const;

export function Bills({ view }: { view: Schemas["JobView"] }) {
  const { t } = useWords();
  const refetchInterval = usePace(15);
  const has = (view.job.attempts ?? 0) > 1;
  const found = useQuery({ ...bills(view.job.id), refetchInterval, enabled: has });
  const sum = useQuery({ ...losses(view.job.id), refetchInterval, enabled: has });
  if (!has || found.data?.length === 0) return null;
  return (
    <Panel title={t("bill.title")}>
      <Data query={found}>
        {(all) => (
          <>
            <Table all={all} />
            <Phases all={all} />
          </>
        )}
      </Data>
      {sum.data ? <Sum sum={sum.data} /> : null}
    </Panel>
  );
}

function Table({ all }: { all: Schemas["BillView"][] }) {
  const { t, language } = useWords();
  const rows = all.map((one) => {
    const passing = known(`passing.${one.passing}`);
    const way = known(`way.${one.way}`);
    return {
      key: one.bill.failed,
      at: <Moment at={one.bill.fault_at} />,
      from: t("bill.from-to", { last: one.bill.last_step, resumed: one.bill.resumed_step }),
      steps: <Quantity value={one.lost_steps} unit={t("unit.steps")} />,
      outage: one.kill_to_first_step_s == null ? "—" : duration(one.kill_to_first_step_s, language),
      hours: <Quantity value={one.bill.device_seconds_lost / HOUR_S} unit={t("unit.card-hours")} digits={1} />,
      passed: passing ? t(passing) : one.passing,
      way: way ? t(way) : (one.way ?? "—"),
    };
  });
  return (
    <Simple
      rows={rows}
      columns={[
        ["at", t("bill.at")],
        ["from", t("bill.steps")],
        ["steps", t("bill.lost")],
        ["outage", t("bill.outage")],
        ["hours", t("bill.hours")],
        ["passed", t("bill.passed")],
        ["way", t("bill.way")],
      ]}
    />
  );
}

/** Where the seconds of each recovery went, in the order in which they passed; the longest stands out. */
export function Phases({ all }: { all: Schemas["BillView"][] }) {
  const { t } = useWords();
  const shown = PHASES.filter((name) => all.some((one) => one.phases[name] != null));
  if (shown.length === 0) return null;
  const cells = ({ phases }: Schemas["BillView"]) => {
    const longest = Math.max(...shown.map((name) => phases[name] ?? 0));
    return shown.map((name) => [name, <Phase key={name} value={phases[name]} longest={longest} />]);
  };
  return (
    <>
      <h3 style={{ fontSize: 14, margin: "12px 0 4px" }}>{t("bill.phases")}</h3>
      <Simple
        rows={all.map((one) => ({
          key: one.bill.failed,
          at: <Moment at={one.bill.fault_at} />,
          ...Object.fromEntries(cells(one)),
        }))}
        columns={[["at", t("bill.at")], ...shown.map((name): [string, string] => [name, t(`phase.${name}`)])]}
      />
    </>
  );
}

function Phase({ value, longest }: { value: number | null | undefined; longest: number }) {
  const { language } = useWords();
  const told = <span className="number">{brief(value, language)}</span>;
  return longest > 0 && value === longest ? <strong>{told}</strong> : told;
}

/** All failures together, and the interval that would have lost least. */
function Sum({ sum }: { sum: Schemas["LossView"] }) {
  const { t } = useWords();
  const best = [...sum.intervals].sort((a, b) => a.device_seconds - b.device_seconds)[0];
  const used = sum.intervals.find((one) => one.in_use);
  const hours = (seconds: number) => Math.round(seconds / 360) / 10;
  return (
    <p className="quiet" style={{ margin: "8px 0 0" }}>
      {t("bill.sum", { failures: sum.failures, steps: sum.lost_steps, hours: hours(sum.device_seconds) })}{" "}
      {best && used && best.every_steps !== used.every_steps
        ? t("bill.advice", {
            every: best.every_steps,
            hours: hours(best.device_seconds),
            used: used.every_steps,
            cost: hours(used.device_seconds),
          })
        : null}
    </p>
  );
}
