/** Status by icon, word and colour; every colour is checked for contrast (AA) on its ground. */

import type { components } from "../api/schema.gen";
import type { Key } from "../i18n/words";

type JobState = components["schemas"]["JobState"];
export type Status = JobState | "stalled" | "preempted" | "unknown";

export interface Look {
  icon: string;
  light: string;
  dark: string;
  word: Key;
}

export const STATUS: Record<Status, Look> = {
  queued: { icon: "○", light: "#595f69", dark: "#a6adb8", word: "status.queued" },
  starting: { icon: "◔", light: "#0b6e99", dark: "#5bb8e0", word: "status.starting" },
  running: { icon: "●", light: "#1557d6", dark: "#6ea0ff", word: "status.running" },
  stalled: { icon: "◐", light: "#9a5b00", dark: "#f0a63a", word: "status.stalled" },
  stopping: { icon: "◍", light: "#595f69", dark: "#a6adb8", word: "status.stopping" },
  recovering: { icon: "↻", light: "#6b3fc9", dark: "#b59cff", word: "status.recovering" },
  held: { icon: "◫", light: "#9a5b00", dark: "#f0a63a", word: "status.held" },
  succeeded: { icon: "✓", light: "#1f7a3d", dark: "#5cc983", word: "status.succeeded" },
  failed: { icon: "✕", light: "#c4271b", dark: "#ff8a7d", word: "status.failed" },
  preempted: { icon: "⇣", light: "#8a4b6b", dark: "#e0a0c0", word: "status.preempted" },
  stopped: { icon: "⊘", light: "#666a71", dark: "#9aa0a8", word: "status.stopped" },
  unknown: { icon: "?", light: "#5f6368", dark: "#b0b5bc", word: "status.unknown" },
};

type JobView = components["schemas"]["JobView"];

/** How a job stands: running but with a stall told of it is stalled. */
export function statusOf(view: JobView): Status {
  const attempt = view.attempt?.id;
  const stalls = view.verdict?.fault === "stalled" && view.verdict.attempt === attempt;
  if (view.job.state === "running" && (view.stall || stalls)) return "stalled";
  if (view.job.state === "queued" && (view.job.preemptions ?? 0) > 0) return "preempted";
  return view.job.state;
}

/** Since when it stands so; null where nobody recorded it. */
export function since(view: JobView): string | null {
  const status = statusOf(view);
  if (view.job.ended_at) return view.job.ended_at;
  if (view.stall && status === "stalled") return view.stall.since;
  if (status === "stalled") return view.verdict?.at ?? view.last_progress_at ?? null;
  if (status === "recovering" || status === "held" || status === "preempted") return view.attempt?.ended_at ?? null;
  if (status === "queued") return view.attempt?.ended_at ?? view.job.submitted_at;
  return view.attempt?.started_at ?? view.attempt?.placed_at ?? null;
}
