/** The chart, loaded only where one is shown. */

import { lazy, Suspense } from "react";
import { Loading } from "../states";

export interface ChartLine {
  name: string;
  points: [number, number][];
}

export interface ChartProps {
  lines: ChartLine[];
  /** The measurement all lines are of: what its values are told in. */
  metric: string;
}

const Chart = lazy(() => import("./Chart"));

export function LazyChart(props: ChartProps) {
  return (
    <Suspense fallback={<Loading />}>
      <Chart {...props} />
    </Suspense>
  );
}
