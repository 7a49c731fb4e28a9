/** What would follow: the checked job, the quota after it, card-hours at most, and what its checkpoints would save. */

import { useQuery } from "@tanstack/react-query";
import { api, type Schemas, take } from "../../api/client";
import { Problem } from "../../api/problem";
import { quotaTable } from "../../api/queries";
import { useWords } from "../../i18n/words";
import { Facts } from "../../parts/Page";
import { Quantity } from "../../parts/Quantity";
import { Failed, Loading, Unknown } from "../../parts/states";
import { isoSeconds } from "../../time/durations";
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
  return checked.data ? <Outcome spec={checked.data.spec} /> : <Loading />;
}

function Outcome({ spec }: { spec: Schemas["JobSpec"] }) {
  const { t } = useWords();
  const { nodes = 1, devices_per_node: each = 1, ranks_per_node: ranks = 1, device_types: types = [] } = spec.request;
  const cards = nodes * each;
  const limit = spec.limit ? isoSeconds(spec.limit) : null;
  const every = spec.checkpoint?.every_steps;
  return (
    <div className="stack">
      <Facts
        rows={[
          [t("jobs.cards"), t("job.request", { nodes, each, ranks, types: types.join(" / ") || t("submit.any-type") })],
          [t("submit.priority"), t(`priority.${spec.priority ?? "normal"}`)],
          [
            t("submit.hours"),
            limit === null ? (
              t("submit.hours-unknown")
            ) : (
              <Quantity key="h" value={(cards * limit) / 3600} unit={t("unit.card-hours")} digits={1} />
            ),
          ],
          [t("job.checkpoints"), every ? t("submit.trade", { every }) : t("submit.no-checkpoints")],
          [
            t("job.command"),
            <code key="c" className="mono">
              {spec.command.join(" ")}
            </code>,
          ],
        ]}
      />
      <QuotaAfter project={spec.project} types={types} cards={cards} />
      <Unknown>{t("submit.place-later")}</Unknown>
    </div>
  );
}

/** The project's quota with this job on top. */
function QuotaAfter({ project, types, cards }: { project: string; types: string[]; cards: number }) {
  const { t } = useWords();
  const table = useQuery(quotaTable());
  const mine = (table.data?.entries ?? []).filter(
    (entry) => entry.branch === project && (types.length === 0 || types.includes(entry.device_type)),
  );
  if (table.isPending) return null;
  if (mine.length === 0) return <div className="notice">{t("submit.no-quota", { project })}</div>;
  return (
    <>
      {mine.map((entry) => {
        const own = entry.guaranteed + entry.granted;
        const over = Math.max(0, entry.used + cards - own);
        return (
          <div key={entry.device_type}>
            {t("submit.quota-after", { type: entry.device_type, used: entry.used + cards, own })}
            {over > 0 ? <span className="warn"> {t("submit.over", { over })}</span> : null}
          </div>
        );
      })}
    </>
  );
}
