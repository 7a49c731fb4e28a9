/** The logs of an attempt: which rank, in which order to read, and the lines. */

import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { App, Button, Select } from "antd";
import { useMemo } from "react";
import type { Schemas } from "../../api/client";
import { usePace } from "../../api/live";
import { logSource, saveBundle, saveLog } from "../../api/logs";
import { logArrivals, logRanks } from "../../api/queries";
import { useWords } from "../../i18n/words";
import { growth } from "../../parts/log/arrivals";
import { LogView } from "../../parts/log/LogView";
import { Panel } from "../../parts/Page";
import { bytes } from "../../parts/Quantity";
import { Failed, Loading } from "../../parts/states";
import { LogSearch } from "./LogSearch";

interface Props {
  view: Schemas["JobView"];
  chosen: Schemas["AttemptView"];
  rank: number;
}

export function Logs({ view, chosen, rank }: Props) {
  const { t } = useWords();
  const { message } = App.useApp();
  const wanted = useSearch({ from: "/jobs/$job" });
  const navigate = useNavigate({ from: "/jobs/$job" });
  const { id } = view.job;
  const { number, ended_at: ended } = chosen.attempt;
  const ranks = useQuery({ ...logRanks(id, number), refetchInterval: usePace(5) });
  const arrived = useQuery(logArrivals(id, number, rank));
  const grown = useMemo(() => growth(arrived.data), [arrived.data]);
  const source = useMemo(() => logSource(id, number, rank), [id, number, rank]);
  const marks = useMemo(
    () => (chosen.verdict?.lines ?? []).filter((line) => line.rank === rank).map((line) => line.offset),
    [chosen.verdict, rank],
  );
  const report = (error: Error) => void message.error(error.message);
  const sizes = Object.entries(ranks.data ?? {}).map(([name, size]) => ({ name: Number(name), size }));
  const options = sizes.some((one) => one.name === rank) ? sizes : [...sizes, { name: rank, size: 0 }];
  return (
    <Panel
      title={t("log.title")}
      extra={
        <span className="row">
          <Select
            size="small"
            style={{ minWidth: 180 }}
            showSearch
            aria-label={t("log.rank")}
            value={rank}
            onChange={(value) =>
              void navigate({ search: (old) => ({ ...old, rank: value, offset: undefined }), replace: true })
            }
            options={options.map(({ name, size }) => ({
              value: name,
              label: `${t("log.rank")} ${name} · ${bytes(size)}`,
            }))}
          />
          <Button size="small" onClick={() => void saveBundle(id, number).catch(report)}>
            {t("log.bundle")}
          </Button>
        </span>
      }
    >
      <Order verdict={chosen.verdict} />
      <LogSearch
        key={`${number}.${rank}.search`}
        job={id}
        attempt={number}
        rank={rank}
        jump={(offset) => void navigate({ search: (old) => ({ ...old, rank, offset }), replace: true })}
      />
      {ranks.isPending ? <Loading /> : null}
      {ranks.isError ? <Failed error={ranks.error} retry={() => void ranks.refetch()} /> : null}
      {ranks.data ? (
        <LogView
          key={`${number}.${rank}`}
          source={source}
          offset={wanted.offset ?? null}
          moment={wanted.t ? Date.parse(wanted.t) : null}
          marks={marks}
          grown={grown}
          isGrowing={!ended}
          known={ranks.data[rank] ?? 0}
          save={() => void saveLog(id, number, rank).catch(report)}
          onLine={(line, at) =>
            void navigate({
              search: (old) => ({
                ...old,
                rank,
                offset: line.offset,
                ...(at ? { t: new Date(at).toISOString() } : {}),
              }),
              replace: true,
            })
          }
        />
      ) : null}
    </Panel>
  );
}

/** Which lines the verdict rests on, in the order to read them. */
function Order({ verdict }: { verdict: Schemas["Verdict"] | null }) {
  const { t } = useWords();
  const navigate = useNavigate({ from: "/jobs/$job" });
  const lines = verdict?.lines ?? [];
  if (lines.length === 0) return null;
  return (
    <ol className="row" aria-label={t("log.order")} style={{ listStyle: "none", padding: 0, margin: "0 0 8px" }}>
      <li className="quiet">{t("log.order")}</li>
      {lines.slice(0, 6).map((line, at) => (
        <li key={`${line.rank}.${line.offset}`}>
          <Button
            size="small"
            title={line.text}
            onClick={() =>
              void navigate({ search: (old) => ({ ...old, rank: line.rank, offset: line.offset }), replace: true })
            }
          >
            {at + 1} · {t("log.rank")} {line.rank}
          </Button>
        </li>
      ))}
    </ol>
  );
}
