/** Why it waits: place, range, reason in words, who stands before it, and what would let it start sooner. */

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Schemas } from "../../api/client";
import { usePace } from "../../api/live";
import { ahead, sooner } from "../../api/queries";
import { known, useWords } from "../../i18n/words";
import { Panel } from "../../parts/Page";
import { Moment, Quantity } from "../../parts/Quantity";
import { expected, range, unforeseen } from "../../parts/range";
import { Simple } from "../../parts/Simple";
import { Data } from "../../parts/states";
import { useNow } from "../../time/now";

export function Waiting({ view }: { view: Schemas["JobView"] }) {
  const { t } = useWords();
  const now = useNow(60);
  const refetchInterval = usePace(15);
  const before = useQuery({ ...ahead(view.job.id), refetchInterval });
  const changes = useQuery(sooner(view.job.id));
  const waits = view.waits;
  const named = (change: string, value: string) => {
    const key = known(`change.${change}`);
    return key ? t(key, { value }) : `${change} ${value}`;
  };
  if (!waits) return null;
  return (
    <Panel title={t("wait.title", { place: waits.position, ahead: waits.ahead_count })}>
      <p style={{ margin: "0 0 4px" }}>
        <strong>{expected(waits.forecast, now, t)}</strong>{" "}
        <span className="quiet">{unforeseen(waits.forecast, t)}</span>
      </p>
      <p style={{ margin: "0 0 4px" }}>{waits.sentence}</p>
      {waits.order ? (
        <p style={{ margin: "0 0 4px" }} className="quiet">
          {waits.order}
        </p>
      ) : null}
      {waits.advice ? <p style={{ margin: "0 0 8px" }}>{waits.advice}</p> : null}
      <Data query={before} rows={2}>
        {(found) =>
          found.length === 0 ? null : (
            <Simple
              rows={found.map((one) => ({
                key: one.job,
                job: (
                  <Link to="/jobs/$job" params={{ job: one.job }} className="mono">
                    {one.job}
                  </Link>
                ),
                owner: `${one.project} · ${one.owner}`,
                priority: t(`priority.${one.priority}`),
                cards: <Quantity value={one.devices} unit={t("unit.cards")} />,
                starts: <Moment at={one.starts} />,
                ends: <Moment at={one.ends} />,
              }))}
              columns={[
                ["job", t("wait.before")],
                ["owner", t("wait.owner")],
                ["priority", t("submit.priority")],
                ["cards", t("jobs.cards")],
                ["starts", t("wait.starts")],
                ["ends", t("wait.ends")],
              ]}
            />
          )
        }
      </Data>
      {(changes.data ?? []).map((one) => (
        <p key={`${one.change} ${one.value}`} style={{ margin: "8px 0 0" }}>
          {t("wait.sooner", {
            change: named(one.change, one.value),
            range: range(one.then ?? one.forecast, now) ?? "—",
          })}
        </p>
      ))}
    </Panel>
  );
}
