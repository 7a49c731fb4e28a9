/** The present by the server's clock: a browser whose clock is wrong must not tell how long a job has stalled. */

import { useEffect, useState } from "react";

let skewMs = 0;

/** Learn how far this clock is off from the server's, by the `Date` of an answer; below two seconds it is not worth it. */
export function learnClock(dateHeader: string | null): void {
  const told = dateHeader ? Date.parse(dateHeader) : Number.NaN;
  if (Number.isNaN(told)) return;
  const off = told - Date.now();
  skewMs = Math.abs(off) < 2000 ? 0 : off;
}

export function now(): number {
  return Date.now() + skewMs;
}

/** The present, looked at again every so many seconds. */
export function useNow(everyS = 5): Date {
  const [at, set] = useState(now);
  useEffect(() => {
    const timer = setInterval(() => set(now()), everyS * 1000);
    return () => clearInterval(timer);
  }, [everyS]);
  return new Date(at);
}
