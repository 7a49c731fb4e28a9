/** Measurements that every node or card has, by the names of the protocol, and how they are told to people. */

import { known, type Say } from "../../i18n/words";
import { now } from "../../time/now";
import { bytes } from "../Quantity";

export const METRICS = [
  ...["device_utilisation_percent", "device_memory_used_bytes", "device_temperature_celsius", "device_power_watts"],
  ...["cpu_percent", "memory_used_bytes", "disk_used_bytes", "disk_read_bytes_per_s", "disk_write_bytes_per_s"],
  ...["network_in_bytes_per_s", "network_out_bytes_per_s"],
];

const UNITS: [string, string][] = [
  ["_percent", "%"],
  ["_celsius", "°C"],
  ["_watts", "W"],
];

/** What a measurement is called; one the console does not know keeps its own name. */
export function metricName(name: string, t: Say): string {
  const key = known(`metric.${name}`);
  return key ? t(key) : name;
}

/** A value with the unit that the measurement's name tells. */
export function measured(name: string, value: number): string {
  if (name.endsWith("_bytes_per_s")) return `${bytes(value)}/s`;
  if (name.endsWith("_bytes")) return bytes(value);
  const unit = UNITS.find(([ending]) => name.endsWith(ending))?.[1];
  return `${Number(value.toPrecision(3))}${unit ? ` ${unit}` : ""}`;
}

const MINUTE_MS = 60_000;

/** The moment so many hours ago, to the minute: a key that does not change at every drawing. */
export function sinceHours(hours: number): string {
  return new Date(Math.floor((now() - hours * 3_600_000) / MINUTE_MS) * MINUTE_MS).toISOString();
}
