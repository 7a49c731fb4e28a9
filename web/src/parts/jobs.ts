/** Facts about jobs that several screens tell: which are in trouble, what they cost others, how far they are. Pure. */

import type { Schemas } from "../api/client";
import { since, statusOf } from "../design/status";

type JobView = Schemas["JobView"];
type NodeView = Schemas["NodeView"];

const DAY_MS = 86_400_000;
export const LIVE: Schemas["JobState"][] = ["queued", "starting", "running", "stopping", "recovering", "held"];

/** Stalled, recovering or held now, or failed within a day. */
export function isTroubled(view: JobView, now: number): boolean {
  const status = statusOf(view);
  if (status === "stalled" || status === "recovering" || status === "held") return true;
  return status === "failed" && view.job.ended_at != null && now - Date.parse(view.job.ended_at) < DAY_MS;
}

/** Device-seconds since it stands so: what is lost while nobody acts. A failed job holds nothing more. */
export function impact(view: JobView, now: number): number {
  const from = since(view);
  if (!from || statusOf(view) === "failed") return 0;
  return view.devices * Math.max(0, (now - Date.parse(from)) / 1000);
}

/** Troubled jobs, what costs most first. */
export function troubled(views: JobView[], now: number): JobView[] {
  return views.filter((view) => isTroubled(view, now)).sort((a, b) => impact(b, now) - impact(a, now));
}

/** Devices it has now. */
export function allocated(view: JobView): number {
  if (!view.attempt || view.attempt.state === "ended") return 0;
  return view.attempt.placements.reduce((sum, placement) => sum + placement.devices.length, 0);
}

export interface Pool {
  type: string;
  total: number;
  taken: number;
  others: number;
  out: number;
  idle: number;
}

/** Devices by type: taken by Headway, by others, out of use, idle. */
export function pools(views: NodeView[]): Pool[] {
  const found = new Map<string, Pool>();
  for (const { node, taken, occupied } of views) {
    const type = node.device_type;
    const pool = found.get(type) ?? { type, total: 0, taken: 0, others: 0, out: 0, idle: 0 };
    const mine = Object.keys(taken).length;
    const theirs = occupied.reduce((sum, one) => sum + one.devices, 0);
    const rest = Math.max(0, node.devices - mine - theirs);
    pool.total += node.devices;
    pool.taken += mine;
    pool.others += theirs;
    if ((node.state ?? "up") === "up") pool.idle += rest;
    else pool.out += rest;
    found.set(type, pool);
  }
  return [...found.values()].sort((a, b) => b.total - a.total || a.type.localeCompare(b.type));
}

/** The middle value; null of none. */
export function median(values: number[]): number | null {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  if (sorted.length === 0) return null;
  return sorted.length % 2 ? (sorted[middle] ?? null) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}
