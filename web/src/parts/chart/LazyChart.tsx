/** The chart, loaded only where one is shown. */

import { lazy, Suspense } from "react";
import { Loading } from "../states";

export interface ChartLine {
  name: string;
  points: [number, number][];
}

const Chart = lazy(() => import("./Chart"));

export function LazyChart({ lines }: { lines: ChartLine[] }) {
  return (
    <Suspense fallback={<Loading />}>
      <Chart lines={lines} />
    </Suspense>
  );
}
