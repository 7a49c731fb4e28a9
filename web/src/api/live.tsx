/** Live data: one stream of facts per scope makes queries fresh; without it they are polled. Shows how old the data is. */

import { type QueryClient, useQuery, useQueryClient } from "@tanstack/react-query";
import { createContext, type ReactNode, useContext, useEffect, useState } from "react";
import { me } from "./queries";
import { useToken } from "./session";
import { readStream } from "./stream";

const QUIET_MS = 1500;
const RETRY_MS = 5000;

const Live = createContext(false);

/** Whether facts come as they happen now. */
export function useLive(): boolean {
  return useContext(Live);
}

/** How often to ask again, in ms: seldom while facts tell of changes, else by the page's own pace. */
export function usePace(seconds: 5 | 15): number {
  return useLive() ? 30_000 : seconds * 1000;
}

export function LiveProvider({ children }: { children: ReactNode }) {
  const [open, setOpen] = useState(0);
  const queries = useQueryClient();
  const signed = useToken();
  const { data } = useQuery({ ...me(), enabled: signed !== null });
  const scopes = scopesOf(data?.roles ?? []);
  const key = scopes.join("\n");
  useEffect(() => {
    if (!signed || !key) return;
    const stop = new AbortController();
    const fresh = freshener(queries);
    for (const scope of key.split("\n"))
      void follow(scope, signed, stop.signal, { change: (by) => setOpen((now) => now + by), fact: fresh });
    return () => stop.abort();
  }, [signed, key, queries]);
  return <Live.Provider value={scopes.length > 0 && open >= scopes.length}>{children}</Live.Provider>;
}

/** Everything is one stream; otherwise one for each project. */
export function scopesOf(roles: string[][]): string[] {
  const projects = [...new Set(roles.map(([, project]) => project ?? ""))].sort();
  return projects.includes("*") ? ["*"] : projects;
}

/** At most one round of questions every moment or so, however many facts come. */
function freshener(queries: QueryClient): () => void {
  let isWaiting = false;
  return () => {
    if (isWaiting) return;
    isWaiting = true;
    setTimeout(() => {
      isWaiting = false;
      void queries.invalidateQueries({ predicate: (query) => query.meta?.live === true });
    }, QUIET_MS);
  };
}

async function follow(
  scope: string,
  signed: string,
  signal: AbortSignal,
  on: { change: (by: 1 | -1) => void; fact: () => void },
): Promise<void> {
  const project = scope === "*" ? "" : `&project=${encodeURIComponent(scope)}`;
  let last = "";
  while (!signal.aborted) {
    let isOpen = false;
    const headers: Record<string, string> = { Authorization: `Bearer ${signed}` };
    if (last) headers["Last-Event-ID"] = last;
    try {
      await readStream(`/api/v1/facts/stream?after=-1${project}`, headers, signal, {
        open: () => {
          isOpen = true;
          on.change(1);
          on.fact();
        },
        event: (told) => {
          last = told.id || last;
          on.fact();
        },
      });
    } catch {
      // The next connection goes on after the last fact; until then queries are polled.
    }
    if (isOpen) on.change(-1);
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}
