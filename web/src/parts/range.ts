/** When a job is expected to start, as a range. */

import type { Schemas } from "../api/client";
import { shortMoment } from "../time/durations";

/** "14:20–15:05"; null where nobody can honestly say. */
export function range(forecast: Schemas["Forecast"] | null | undefined, now: Date): string | null {
  if (!forecast?.p50) return null;
  const first = shortMoment(forecast.p50, now);
  return forecast.p90 ? `${first}–${shortMoment(forecast.p90, now)}` : `≥ ${first}`;
}
