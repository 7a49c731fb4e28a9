/** A job's facts as lanes of its time axis: how it stood when, its checkpoints, what happened, its nodes. Pure. */

import type { Schemas } from "../../api/client";
import type { Status } from "../../design/status";
import type { Say } from "../../i18n/words";
import { known, told } from "../../i18n/words";
import type { Lane, Mark, Point, Stretch } from "../../parts/axis/lanes";
import type { Span } from "../../time/axis";

export type Fact = Schemas["headway__server__api__views__Recorded"];
type Checkpoint = Schemas["Checkpoint"];
type Series = Schemas["Series"];
type Grid = Schemas["Grid"];

/** What a fact makes of a job; a stall begins before it was noticed. */
const TURNS: Record<string, Status> = {
  "job-submitted": "queued",
  "attempt-placed": "starting",
  "attempt-started": "running",
  stalled: "stalled",
  moving: "running",
  "stop-requested": "stopping",
  "attempt-ended": "recovering",
  "job-held": "held",
  "job-released": "recovering",
};

const SIGNS: Record<string, [string, Mark["tone"]]> = {
  "rank-exited": ["✕", "bad"],
  "agent-lost": ["✕", "bad"],
  "end-explained": ["⚑", "warn"],
  stalled: ["◐", "warn"],
  moving: ["●", "accent"],
  "stall-explained": ["⚑", "warn"],
  "rank-slow": ["⚑", "warn"],
  "verdict-reached": ["⚖", "accent"],
  "drill-ordered": ["⚡", "accent"],
  "stop-requested": ["⊘", "quiet"],
  "launch-failed": ["✕", "bad"],
  restored: ["↻", "good"],
  "preemption-ordered": ["⇣", "warn"],
  "job-held": ["◫", "warn"],
  "job-released": ["▸", "good"],
  "job-ended": ["■", "quiet"],
};

/** Which values of a fact are words of a closed list. */
const FAMILIES: Record<string, string[]> = {
  state: ["status"],
  outcome: ["outcome"],
  reason: ["why"],
  cause: ["cause", "why"],
  phase: ["phase"],
  fault: ["fault"],
};

const ms = (text: unknown): number => Date.parse(String(text));

/** How it stood from its submission until it ended or now. */
export function stretches(facts: Fact[], now: number): Stretch[] {
  const found: Stretch[] = [];
  for (const fact of facts) {
    const at = fact.kind === "stalled" && fact.data.since ? ms(fact.data.since) : ms(fact.at);
    const status = TURNS[fact.kind];
    const last = found[found.length - 1];
    if (fact.kind === "job-ended") {
      if (last) last.to = ms(fact.at);
      return merged(found);
    }
    if (!status || (fact.kind === "stop-requested" && last?.status === "queued")) continue;
    if (last) last.to = Math.max(last.from, at);
    found.push({ from: at, to: now, status });
  }
  return merged(found);
}

function merged(found: Stretch[]): Stretch[] {
  return found.filter((one) => one.to > one.from);
}

/** When it had no devices: what the axis may fold. */
export function idleSpans(found: Stretch[]): Span[] {
  return found.filter((one) => one.status === "queued" || one.status === "recovering" || one.status === "held");
}

/** From its submission to its end, or to now. */
export function wholeSpan(found: Stretch[], now: number): Span {
  const [first, last] = [found[0], found[found.length - 1]];
  if (!first || !last) return { from: now - 60_000, to: now };
  return { from: first.from, to: Math.max(last.to, first.from + 1000) };
}

/** Whose log is shown: the one asked for, else the one that holds up or broke first if it wrote any, else the first. */
export function shownRank(
  wanted: number | undefined,
  view: Schemas["JobView"],
  chosen: Schemas["AttemptView"] | null,
  written: Record<string, number> | undefined,
): number {
  if (wanted !== undefined) return wanted;
  const isNewest = chosen !== null && chosen.attempt.id === view.attempt?.id;
  const told = (isNewest ? view.stall?.rank : null) ?? chosen?.verdict?.rank ?? 0;
  return written && !written[told] ? 0 : told;
}

export function checkpointMarks(checkpoints: Checkpoint[], t: Say): Mark[] {
  return checkpoints.map((one) => ({
    at: ms(one.saved_at),
    icon: one.state === "rejected" ? "△" : one.state === "verified" ? "▲" : "▵",
    tone: one.state === "verified" ? "good" : one.state === "rejected" ? "bad" : "quiet",
    text: t("axis.checkpoint", {
      step: one.step,
      state: t(known(`checkpoint.${one.state ?? "saved"}`) ?? "status.unknown"),
    }),
  }));
}

export function eventMarks(facts: Fact[], t: Say): Mark[] {
  return facts.flatMap((fact) => {
    const sign = SIGNS[fact.kind];
    if (!sign) return [];
    if (fact.kind === "rank-exited" && fact.data.code === 0) return [];
    return [{ at: ms(fact.at), icon: sign[0], tone: sign[1], text: sentence(fact, t) }];
  });
}

/** A fact in words; a kind newer than the console is called by its name. */
export function sentence(fact: Fact, t: Say): string {
  const key = known(`fact.${fact.kind}`);
  const blanks = Object.fromEntries(Object.entries(fact.data).map(([name, value]) => [name, shownOf(name, value, t)]));
  return key ? t(key, blanks) : fact.kind;
}

/** How something stands or ended, in the reader's words; a number as one, anything else as it is. */
function shownOf(name: string, value: unknown, t: Say): string | number {
  if (value === null) return "—";
  if (typeof value === "number") return value;
  return typeof value === "object" ? JSON.stringify(value) : told(FAMILIES[name] ?? [], String(value), t);
}

/** What the main process of each attempt reported, one run an attempt: a resume is a new line, not a fall. */
export function runsOf(series: Series[] | undefined): Point[][] {
  const leads = new Map<string, Series>();
  for (const one of series ?? []) {
    const lead = leads.get(one.attempt);
    if (!lead || (one.rank ?? 0) < (lead.rank ?? 0)) leads.set(one.attempt, one);
  }
  const runs = [...leads.values()].map(pointsOf).filter((run) => run.length > 0);
  return runs.sort((a, b) => (a[0]?.at ?? 0) - (b[0]?.at ?? 0));
}

const pointsOf = (series: Series): Point[] => series.points.map((point) => ({ at: ms(point.at), value: point.mean }));

const RATES = 200;

/** Steps per second from the steps themselves, over stretches long enough that a late report does not look like speed. */
export function rates(all: Point[]): Point[] {
  const [first, end] = [all[0], all[all.length - 1]];
  const least = first && end ? (end.at - first.at) / RATES : 0;
  const steps: Point[] = [];
  for (const point of all) {
    const last = steps[steps.length - 1];
    if (!last || point.at - last.at >= least) steps.push(point);
  }
  return steps.slice(1).flatMap((point, at) => {
    const before = steps[at];
    const seconds = before ? (point.at - before.at) / 1000 : 0;
    return before && seconds > 0 ? [{ at: point.at, value: Math.max(0, (point.value - before.value) / seconds) }] : [];
  });
}

const ALIKE = 0.25;

export interface NodeRow {
  node: string;
  points: Point[];
  stands: boolean;
}

/** A row per node, over the attempts in their order; who is told of in the verdict, or is far from the middle lately, stands apart. */
export function nodeRows(grids: Grid[] | undefined, told: string | null): NodeRow[] {
  const rows = new Map<string, Point[]>();
  for (const { at, nodes } of grids ?? []) {
    const moments = at.map(ms);
    for (const { node, means } of nodes) {
      const points = means.flatMap((value, place) => (value === null ? [] : [{ at: moments[place] ?? 0, value }]));
      rows.set(node, [...(rows.get(node) ?? []), ...points]);
    }
  }
  const found = [...rows].map(([node, points]) => ({ node, points }));
  const recent = found.map((row) => late(row.points));
  const middle = [...recent].sort((a, b) => a - b)[recent.length >> 1] ?? 0;
  const top = Math.max(1e-9, ...recent);
  return found
    .map((row, at) => ({
      ...row,
      stands: row.node === told || (found.length > 2 && Math.abs((recent[at] ?? 0) - middle) > ALIKE * top),
    }))
    .sort((a, b) => Number(b.stands) - Number(a.stands) || a.node.localeCompare(b.node));
}

function late(points: Point[]): number {
  const tail = points.slice(-5);
  return tail.reduce((sum, point) => sum + point.value, 0) / Math.max(1, tail.length);
}

/** Node rows as lanes: who stands apart first, the alike ones as one line unless opened. */
export function nodeLanes(rows: NodeRow[], told: string | null, open: boolean, t: Say): Lane[] {
  const top = Math.max(1e-9, ...rows.flatMap((row) => row.points.map((point) => point.value)));
  const lane = (row: NodeRow, label = row.node): Lane => ({
    kind: "heat",
    label,
    points: row.points,
    flagged: row.node === told,
    top,
  });
  const apart = rows.filter((row) => row.stands);
  const alike = rows.filter((row) => !row.stands);
  const first = alike[0];
  if (open || alike.length <= 2 || !first) return rows.map((row) => lane(row));
  return [...apart.map((row) => lane(row)), lane({ ...first, node: "" }, t("axis.alike", { count: alike.length }))];
}
