/** What would follow: its place and range, the quota after it, card-hours, and what its checkpoints would save. */

import { useQuery } from "@tanstack/react-query";
import { api, type Schemas, take } from "../../api/client";
import { Problem } from "../../api/problem";
import { cadenceOf } from "../../api/queries";
import { type Language, type Say, useWords } from "../../i18n/words";
import { Facts } from "../../parts/Page";
import { Quantity } from "../../parts/Quantity";
import { expected, unforeseen } from "../../parts/range";
import { Failed, Loading, Unknown } from "../../parts/states";
import { Trade } from "../../parts/Trade";
import { duration, isoSeconds } from "../../time/durations";
import { useNow } from "../../time/now";
import { tidy, type Wish } from "./wish";

export function DryRun({ wish }: { wish: Partial<Wish> }) {
  const { t } = useWords();
  const body = tidy(wish) as Wish;
  const isReady = Boolean(body.name && body.project && body.template);
  const checked = useQuery({
    queryKey: ["dry-run", body],
    queryFn: () => take(api.POST("/api/v1/jobs/dry-run", { body })),
    enabled: isReady,
    placeholderData: (before) => before,
    retry: false,
  });
  if (!isReady) return <Unknown>{t("submit.fill")}</Unknown>;
  if (checked.isError) {
    const isUnreachable = checked.error instanceof Problem && checked.error.isUnreachable;
    return <Failed error={checked.error} retry={isUnreachable ? () => void checked.refetch() : undefined} />;
  }
  return checked.data ? <Outcome seen={checked.data} /> : <Loading />;
}

function Outcome({ seen }: { seen: Schemas["DryRunView"] }) {
  const { t, language } = useWords();
  const { spec } = seen;
  const { nodes = 1, devices_per_node: each = 1, ranks_per_node: ranks = 1, device_types: types = [] } = spec.request;
  return (
    <div className="stack">
      <Place seen={seen} />
      <Facts
        rows={[
          [t("jobs.cards"), t("job.request", { nodes, each, ranks, types: types.join(" / ") || t("submit.any-type") })],
          [t("submit.priority"), t(`priority.${spec.priority ?? "normal"}`)],
          [t("submit.hours"), <Hours key="h" hours={seen.device_hours} />],
          [t("job.checkpoints"), saving(spec.checkpoint, t, language)],
          [
            t("job.command"),
            <code key="c" className="mono">
              {spec.command.join(" ")}
            </code>,
          ],
        ]}
      />
      <After seen={seen} />
      {spec.kind === "training" ? <Interval seen={seen} /> : null}
    </div>
  );
}

/** How often it would save. */
export function saving(policy: Schemas["CheckpointPolicy"] | undefined, t: Say, language: Language): string {
  if (policy?.every_steps != null) return t("submit.trade", { every: policy.every_steps });
  if (policy?.advised) return t("submit.every-advised");
  const every = policy?.every == null ? null : isoSeconds(policy.every);
  return every === null ? t("submit.no-checkpoints") : t("submit.every-time", { time: duration(every, language) });
}

/** What other intervals would cost on as many nodes; of its own pool where that is certain. */
function Interval({ seen }: { seen: Schemas["DryRunView"] }) {
  const { t } = useWords();
  const { nodes = 1 } = seen.spec.request;
  const [engine, ...others] = seen.spec.conditions?.engines ?? [];
  const pool = engine && others.length === 0 && seen.starts_on ? { engine, device_type: seen.starts_on } : {};
  const trade = useQuery(cadenceOf({ nodes, ...pool }));
  return (
    <details>
      <summary>{t("cadence.title")}</summary>
      {trade.isError ? <Failed error={trade.error} retry={() => void trade.refetch()} /> : null}
      {trade.data ? <Trade seen={trade.data} /> : null}
    </details>
  );
}

/** Whether it would start at once, or its place, its range and why it waits. */
function Place({ seen }: { seen: Schemas["DryRunView"] }) {
  const { t } = useWords();
  const now = useNow(60);
  const waits = seen.waits;
  if (seen.starts_on) return <strong>{t("submit.starts-now", { type: seen.starts_on })}</strong>;
  return (
    <div>
      <strong>
        {waits ? t("submit.place", { place: waits.position, all: seen.waiting + 1 }) : null}{" "}
        {expected(seen.forecast, now, t)}
      </strong>{" "}
      <span className="quiet">{unforeseen(seen.forecast, t)}</span>
      {waits ? <div>{waits.sentence}</div> : null}
      {waits?.advice ? <div className="quiet">{waits.advice}</div> : null}
    </div>
  );
}

function Hours({ hours }: { hours: Schemas["DeviceHours"] }) {
  const { t } = useWords();
  const unit = t("unit.card-hours");
  if (hours.by === "history" && hours.usual != null)
    return (
      <>
        {t("submit.hours-usual")} <Quantity value={hours.usual} unit={unit} digits={1} />
        {hours.long != null ? (
          <>
            {" · "}
            {t("submit.hours-long")} <Quantity value={hours.long} unit={unit} digits={1} />
          </>
        ) : null}
      </>
    );
  if (hours.at_most == null) return <>{t("submit.hours-unknown")}</>;
  return (
    <>
      {t("submit.hours-most")} <Quantity value={hours.at_most} unit={unit} digits={1} />
    </>
  );
}

/** What the project and those above it would hold with this job on top. */
function After({ seen }: { seen: Schemas["DryRunView"] }) {
  const { t } = useWords();
  if (seen.quota.length === 0)
    return <div className="notice">{t("submit.no-quota", { project: seen.spec.project })}</div>;
  return (
    <>
      {seen.quota.map((one) => (
        <div key={`${one.branch} ${one.device_type}`}>
          {one.branch} · {t("submit.quota-after", { type: one.device_type, used: one.after, own: one.own })}
          {one.borrowed_after > 0 ? (
            <span className="warn"> {t("submit.over", { over: one.borrowed_after })}</span>
          ) : null}
        </div>
      ))}
    </>
  );
}
