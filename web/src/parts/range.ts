/** When a job is expected to start, in words. */

import type { Schemas } from "../api/client";
import { known, type Say } from "../i18n/words";
import { shortMoment, span } from "../time/durations";

type Forecast = Schemas["Forecast"] | null | undefined;

/** "14:20–15:05", or one moment where both ends read the same; null where nobody can honestly say. */
export function range(forecast: Forecast, now: Date): string | null {
  if (!forecast?.p50) return null;
  return forecast.p90 ? span(forecast.p50, forecast.p90, now) : `≥ ${shortMoment(forecast.p50, now)}`;
}

/** The same as a sentence: its range, else the moment it will not start before, else that it is not known. */
export function expected(forecast: Forecast, now: Date, t: Say): string {
  const within = range(forecast, now);
  if (within) return t("jobs.starts", { range: within });
  if (forecast?.not_before) return t("jobs.starts-after", { at: shortMoment(forecast.not_before, now) });
  return t("jobs.starts-unknown");
}

/** Why it is not known, where it is not. */
export function unforeseen(forecast: Forecast, t: Say): string {
  const key = forecast?.unknown ? known(`unknown.${forecast.unknown}`) : null;
  return key ? t(key) : "";
}
