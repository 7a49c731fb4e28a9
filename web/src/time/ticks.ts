/** Round moments to write under a time axis, far enough apart to be read. Pure. */

import type { Axis } from "./axis";
import { clock, monthDay } from "./durations";

const [SECOND, MINUTE, HOUR, DAY] = [1000, 60_000, 3_600_000, 86_400_000];
const STEPS = [
  ...[1, 2, 5, 10, 15, 30].map((count) => count * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * MINUTE),
  ...[1, 2, 3, 6, 12].map((count) => count * HOUR),
  ...[1, 2, 7, 14, 30].map((count) => count * DAY),
];

export interface Tick {
  at: number;
  label: string;
}

/** Ticks at whole steps of the viewer's clock, none nearer than `least` (a share of the axis) to the one before. */
export function ticks(axis: Axis, least: number): Tick[] {
  const { from, to } = axis.span;
  const folded = axis.folded.reduce((sum, gap) => sum + gap.to - gap.from, 0);
  const step = STEPS.find((one) => one / Math.max(1, to - from - folded) >= least) ?? (to - from || 1);
  const shift = new Date(from).getTimezoneOffset() * MINUTE;
  const found: Tick[] = [];
  let [place, day] = [Number.NEGATIVE_INFINITY, ""];
  for (let at = Math.ceil((from - shift) / step) * step + shift; at <= to; at += step) {
    if (axis.place(at) - place < least || axis.folded.some((gap) => at > gap.from && at < gap.to)) continue;
    place = axis.place(at);
    const date = new Date(at);
    found.push({ at, label: labelOf(date, step, to - from > DAY && monthDay(date) !== day) });
    day = monthDay(date);
  }
  return found;
}

/** The day where it begins to matter, else the time to the precision of the step. */
function labelOf(date: Date, step: number, withDay: boolean): string {
  if (step >= DAY) return monthDay(date);
  const time = step < MINUTE ? clock(date) : clock(date).slice(0, 5);
  return withDay ? `${monthDay(date)} ${time}` : time;
}
