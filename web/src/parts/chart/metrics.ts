/** Measurements that every node or card has, by the names of the protocol. */

import { now } from "../../time/now";

export const METRICS = [
  ...["device_utilisation_percent", "device_memory_used_bytes", "device_temperature_celsius", "device_power_watts"],
  ...["cpu_percent", "memory_used_bytes", "disk_used_bytes", "disk_read_bytes_per_s", "disk_write_bytes_per_s"],
  ...["network_in_bytes_per_s", "network_out_bytes_per_s"],
];

const MINUTE_MS = 60_000;

/** The moment so many hours ago, to the minute: a key that does not change at every drawing. */
export function sinceHours(hours: number): string {
  return new Date(Math.floor((now() - hours * 3_600_000) / MINUTE_MS) * MINUTE_MS).toISOString();
}
