/** The job's time axis: how it stood, progress, loss, checkpoints, events, its nodes. */

import { type UseQueryResult, useQueries, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Button } from "antd";
import { useMemo } from "react";
import type { Schemas } from "../../api/client";
import { usePace } from "../../api/live";
import { jobFacts, logArrivals, nodeGrid, readings } from "../../api/queries";
import { useWords } from "../../i18n/words";
import type { Lane } from "../../parts/axis/lanes";
import { TimeAxis } from "../../parts/axis/TimeAxis";
import { growth, momentOf } from "../../parts/log/arrivals";
import { Failed, Loading, Partial, Unknown } from "../../parts/states";
import { now } from "../../time/now";
import {
  checkpointMarks,
  eventMarks,
  idleSpans,
  nodeLanes,
  nodeRows,
  rates,
  runsOf,
  stretches,
  wholeSpan,
} from "./story";

interface Props {
  view: Schemas["JobView"];
  attempts: Schemas["AttemptView"][];
  /** Whose log is shown. */
  chosen: Schemas["AttemptView"] | null;
  rank: number;
  saved: Schemas["Checkpoint"][];
}

export function Axis({ view, attempts, chosen, rank, saved }: Props) {
  const { t } = useWords();
  const wanted = useSearch({ from: "/jobs/$job" });
  const navigate = useNavigate({ from: "/jobs/$job" });
  const open = wanted.nodes === "all";
  const refetchInterval = usePace(5);
  const facts = useQuery({ ...jobFacts(view.job.id), refetchInterval });
  const measured = useMeasured(view, attempts);
  const log = useLog(view, chosen, rank);
  const told = (view.stall ? view.stall.node : view.verdict?.node) ?? null;
  const story = useMemo(() => {
    const found = stretches(facts.data ?? [], now());
    return { found, whole: wholeSpan(found, now()), idle: idleSpans(found) };
  }, [facts.data]);
  const rows = useMemo(() => nodeRows(measured.nodes, told), [measured.nodes, told]);
  const lanes = useMemo<Lane[]>(() => {
    const steps = runsOf(measured.step);
    const loss = runsOf(measured.loss);
    const speed = steps.map(rates).filter((run) => run.length > 1);
    return [
      { kind: "band", label: t("axis.state"), stretches: story.found },
      ...(steps.length ? [{ kind: "line" as const, label: t("axis.step"), runs: steps, unit: "" }] : []),
      ...(loss.length ? [{ kind: "line" as const, label: "loss", runs: loss, unit: "" }] : []),
      ...(speed.length ? [{ kind: "line" as const, label: t("axis.rate"), runs: speed, unit: "/s" }] : []),
      { kind: "marks", label: t("job.checkpoints"), marks: checkpointMarks(saved, t) },
      { kind: "marks", label: t("axis.events"), marks: eventMarks(facts.data ?? [], t) },
      ...nodeLanes(rows, told, open, t),
      ...(log.grown.length ? [{ kind: "density" as const, label: t("axis.log", { rank: log.rank }), ...log }] : []),
    ];
  }, [log, measured.step, measured.loss, story, saved, facts.data, rows, told, open, t]);
  const span = useMemo(() => {
    const [from, to] = [Date.parse(wanted.from ?? ""), Date.parse(wanted.to ?? "")];
    return to > from ? { from, to } : story.whole;
  }, [wanted.from, wanted.to, story.whole]);
  if (facts.isPending) return <Loading />;
  if (!facts.data) return <Failed error={facts.error} retry={() => void facts.refetch()} />;
  const cross = wanted.t ? Date.parse(wanted.t) : Number.NaN;
  return (
    <>
      <TimeAxis
        span={span}
        idle={story.idle}
        lanes={lanes}
        cross={Number.isNaN(cross) ? null : cross}
        onCross={(at) =>
          void navigate({
            search: (old) => ({ ...old, t: new Date(at).toISOString(), offset: undefined }),
            replace: true,
          })
        }
        onWindow={({ from, to }) =>
          void navigate({
            search: (old) => ({ ...old, from: new Date(from).toISOString(), to: new Date(to).toISOString() }),
          })
        }
      />
      {rows.length > 3 ? (
        <Button
          size="small"
          type="link"
          onClick={() =>
            void navigate({ search: (old) => ({ ...old, nodes: open ? undefined : "all" }), replace: true })
          }
        >
          {t(open ? "axis.fold" : "axis.unfold", { count: rows.length })}
        </Button>
      ) : null}
      {measured.error ? <Missing error={measured.error} job={view.job.id} /> : null}
      {attempts.length > 0 && measured.nodes && rows.length === 0 ? <Unknown>{t("axis.no-readings")}</Unknown> : null}
    </>
  );
}

/** Some of what was measured cannot be read: the lanes show the rest. */
function Missing({ error, job }: { error: Error; job: string }) {
  const { t } = useWords();
  const queries = useQueryClient();
  const again = () =>
    void queries.refetchQueries({ queryKey: ["job", job], predicate: (one) => one.state.error !== null });
  return (
    <>
      <Partial>{t("axis.partial")}</Partial>
      <Failed error={error} retry={again} />
    </>
  );
}

/** How the log that is shown grew, and when the lines came that the verdict rests on. */
function useLog(view: Schemas["JobView"], chosen: Schemas["AttemptView"] | null, rank: number) {
  const pace = usePace(5);
  const found = useQuery({
    ...logArrivals(view.job.id, chosen?.attempt.number ?? 0, rank),
    enabled: chosen !== null,
    refetchInterval: view.job.ended_at ? (false as const) : pace,
  });
  return useMemo(() => {
    const grown = growth(found.data);
    const lines = (chosen?.verdict?.lines ?? []).filter((line) => line.rank === rank);
    const marks = lines.flatMap((line) => momentOf(grown, line.offset) ?? []);
    return { rank, grown, marks };
  }, [found.data, chosen?.verdict, rank]);
}

/** Older attempts than these are on the band of states only. */
const MEASURED = 8;

/** What was measured of the latest attempts: steps, loss, and how busy each node's cards, or else its cores, were. */
function useMeasured(view: Schemas["JobView"], attempts: Schemas["AttemptView"][]) {
  const pace = usePace(5);
  const newest = Math.max(view.job.attempts ?? 0, attempts.length);
  // Their numbers are known with the job: nothing waits for the list of attempts.
  const latest = Array.from({ length: Math.min(MEASURED, newest) }, (_, before) => newest - before).reverse();
  const ended = new Set(attempts.filter(({ attempt }) => attempt.ended_at).map(({ attempt }) => attempt.number));
  const ask = <T extends object>(asked: (attempt: number) => T) =>
    latest.map((number) => ({
      ...asked(number),
      refetchInterval: ended.has(number) ? (false as const) : Math.min(pace, 10_000),
    }));
  const measured = (name: string) => ask((attempt) => readings(view.job.id, name, attempt));
  const byNode = (name: string, enabled = true) =>
    ask((attempt) => ({ ...nodeGrid(view.job.id, name, attempt), enabled }));
  const cards = useQueries({ queries: byNode("device_utilisation_percent"), combine: together<Schemas["Grid"]> });
  const step = useQueries({ queries: measured("step"), combine: together<Schemas["Series"][]> });
  const loss = useQueries({ queries: measured("loss"), combine: together<Schemas["Series"][]> });
  const hasCards = cards.found?.some((grid) => grid.nodes.length > 0) ?? false;
  const cores = useQueries({
    queries: byNode("cpu_percent", cards.found !== undefined && !hasCards),
    combine: together<Schemas["Grid"]>,
  });
  const nodes = hasCards ? cards : cores;
  const error = cards.error ?? cores.error ?? step.error ?? loss.error;
  return { step: useFlat(step.found), loss: useFlat(loss.found), nodes: nodes.found, error };
}

/** The answers for every attempt that has been answered for; none yet is not the same as none measured. */
function together<T>(asked: UseQueryResult<T>[]): { found: T[] | undefined; error: Error | null } {
  const found = asked.flatMap((one) => (one.data === undefined ? [] : [one.data]));
  return { found: found.length > 0 ? found : undefined, error: asked.find((one) => one.error)?.error ?? null };
}

function useFlat<T>(found: T[][] | undefined): T[] | undefined {
  return useMemo(() => found?.flat(), [found]);
}
