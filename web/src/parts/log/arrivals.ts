/** When the bytes of a log arrived: which place belongs to a moment, and how much was written when. Pure. */

import type { Schemas } from "../../api/client";
import type { Point } from "../axis/lanes";

/** How the log grew: bytes by moment, in order. */
export function growth(arrivals: Schemas["Arrival"][] | undefined): Point[] {
  return (arrivals ?? []).map((one) => ({ at: Date.parse(one.at), value: one.offset }));
}

/** How many bytes there were at a moment; in between as if written evenly. */
export function bytesAt(grown: Point[], at: number): number {
  return between(grown, at, "at", "value");
}

/** The moment at which the byte at an offset had come; null of a log that says nothing. */
export function momentOf(grown: Point[], offset: number): number | null {
  return grown.length === 0 ? null : between(grown, offset, "value", "at");
}

function between(grown: Point[], wanted: number, by: keyof Point, told: keyof Point): number {
  let [low, high] = [0, grown.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((grown[middle]?.[by] ?? Number.POSITIVE_INFINITY) <= wanted) low = middle + 1;
    else high = middle;
  }
  const [before, after] = [grown[low - 1], grown[low]];
  if (!before) return after?.[told] ?? 0;
  if (!after) return before[told];
  const share = (wanted - before[by]) / Math.max(1, after[by] - before[by]);
  return before[told] + share * (after[told] - before[told]);
}

/** Bytes a second between each two neighbours of some moments. */
export function density(grown: Point[], edges: number[]): number[] {
  const sums = edges.map((at) => bytesAt(grown, at));
  return edges.slice(1).map((to, at) => {
    const seconds = Math.max(0.001, (to - (edges[at] ?? to)) / 1000);
    return ((sums[at + 1] ?? 0) - (sums[at] ?? 0)) / seconds;
  });
}
