/** What an alert rule watches, in words: a gauge of the platform, a measurement, or something that happens. Pure. */

import { known, type Language, type Say } from "../../i18n/words";
import { measured, metricName } from "../../parts/chart/metrics";
import { duration } from "../../time/durations";

export const GAUGES = ["queue-wait", "silence", "node-silence", "node-down", "idle-devices", "budget", "drill-age"];
const IN_SECONDS = new Set(["queue-wait", "silence", "node-silence", "drill-age"]);
const [READING, FACT] = ["reading:", "fact:"];

/** The fact whose happening is watched; null where a value is. */
export function factOf(watches: string): string | null {
  return watches.startsWith(FACT) ? watches.slice(FACT.length) : null;
}

/** What it is called; a name the console does not know stays as it is. */
export function watchedName(watches: string, t: Say): string {
  const fact = factOf(watches);
  if (fact) return worded(`happens.${fact}`, fact, t);
  if (watches.startsWith(READING)) return metricName(watches.slice(READING.length), t);
  return worded(`gauge.${watches}`, watches, t);
}

/** A value of it with its unit. */
export function watchedValue(watches: string, value: number, language: Language): string {
  if (watches.startsWith(READING)) return measured(watches.slice(READING.length), value);
  if (IN_SECONDS.has(watches)) return duration(value, language);
  if (watches === "node-down") return "—";
  if (watches === "budget") return `${Math.round(100 * value)} %`;
  return String(Number(value.toPrecision(3)));
}

function worded(name: string, otherwise: string, t: Say): string {
  const key = known(name);
  return key ? t(key) : otherwise;
}
