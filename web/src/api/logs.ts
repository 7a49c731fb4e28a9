/** A rank's output by byte windows. */

import type { Fetch } from "../parts/log/window";
import { download } from "./client";
import { Problem } from "./problem";
import { token } from "./session";

/** Fetches windows of one rank's log of one attempt. Raises a `Problem`. */
export function logSource(job: string, attempt: number, rank: number): Fetch {
  return async (offset, limit) => {
    const address = `/api/v1/jobs/${encodeURIComponent(job)}/logs?attempt=${attempt}&rank=${rank}&offset=${offset}&limit=${limit}`;
    const response = await fetch(address, { headers: { Authorization: `Bearer ${token() ?? ""}` } }).catch((cause) => {
      throw new Problem(0, { detail: String(cause) });
    });
    if (!response.ok) throw new Problem(response.status, await response.json().catch(() => null));
    const bytes = new Uint8Array(await response.arrayBuffer());
    return { bytes, size: Number(response.headers.get("X-Size") ?? offset + bytes.length) };
  };
}

/** The whole of an attempt as evidence: logs, readings, stacks, facts, verdict. */
export function saveBundle(job: string, attempt: number): Promise<void> {
  return download(`/api/v1/jobs/${encodeURIComponent(job)}/bundle?attempt=${attempt}`, `${job}.${attempt}.zip`);
}

/** So much of a log is saved at once, the newest. */
export const SAVED = 4 << 20;

/** The newest of one rank's output. */
export function saveLog(job: string, attempt: number, rank: number): Promise<void> {
  const address = `/api/v1/jobs/${encodeURIComponent(job)}/logs?attempt=${attempt}&rank=${rank}&offset=-${SAVED}&limit=${SAVED}`;
  return download(address, `${job}.${attempt}.rank${rank}.log`);
}
