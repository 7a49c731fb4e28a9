/** What a time axis shows: lanes under one another, each of one kind. Moments are ms since the epoch. */

import type { Status } from "../../design/status";

export interface Point {
  at: number;
  value: number;
}

export interface Mark {
  at: number;
  icon: string;
  tone: "quiet" | "accent" | "good" | "warn" | "bad";
  text: string;
}

export interface Stretch {
  from: number;
  to: number;
  status: Status;
}

export type Lane =
  | { kind: "band"; label: string; stretches: Stretch[] }
  | { kind: "line"; label: string; runs: Point[][]; unit: string }
  | { kind: "marks"; label: string; marks: Mark[] }
  | { kind: "heat"; label: string; points: Point[]; flagged: boolean; top: number }
  | { kind: "density"; label: string; grown: Point[]; marks: number[] };

const HEIGHTS: Record<Lane["kind"], number> = { band: 24, line: 72, marks: 24, heat: 16, density: 28 };
export const GAP = 6;

export function heightOf(lane: Lane): number {
  return HEIGHTS[lane.kind];
}

/** Where each lane begins, and where the last ends. */
export function stack(lanes: Lane[]): { tops: number[]; total: number } {
  const tops: number[] = [];
  let total = 0;
  for (const lane of lanes) {
    tops.push(total);
    total += heightOf(lane) + GAP;
  }
  return { tops, total };
}

/** The newest point at or before a moment. */
export function valueAt(points: Point[], at: number): Point | null {
  let low = 0;
  let high = points.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((points[middle]?.at ?? Number.POSITIVE_INFINITY) <= at) low = middle + 1;
    else high = middle;
  }
  return points[low - 1] ?? null;
}
