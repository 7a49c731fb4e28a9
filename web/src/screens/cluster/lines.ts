/** Measurements across nodes as lines that can be told apart: a line a card, or a line a node where those are many. Pure. */

import type { Schemas } from "../../api/client";
import type { ChartProps } from "../../parts/chart/LazyChart";

type Series = Pick<Schemas["Series"], "node" | "device" | "points">;
type Line = ChartProps["lines"][number];
type Point = Line["points"][number];

export const MOST_LINES = 24;

export function linesOf(found: Series[]): Line[] {
  if (found.length > MOST_LINES) return byNode(found);
  return found.map((one) => ({
    name: one.device === null ? one.node : `${one.node} · ${one.device}`,
    points: one.points.map((point): Point => [Date.parse(point.at), point.mean]),
  }));
}

/** The mean of a node's cards at each moment. */
function byNode(found: Series[]): Line[] {
  const nodes = new Map<string, Map<number, number[]>>();
  for (const one of found) {
    const moments = nodes.get(one.node) ?? new Map<number, number[]>();
    for (const point of one.points) {
      const at = Date.parse(point.at);
      moments.set(at, [...(moments.get(at) ?? []), point.mean]);
    }
    nodes.set(one.node, moments);
  }
  return [...nodes].map(([name, moments]) => ({
    name,
    points: [...moments].sort(([a], [b]) => a - b).map(([at, values]): Point => [at, mean(values)]),
  }));
}

const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
