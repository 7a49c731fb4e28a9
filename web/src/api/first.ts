/** What a screen shows first, asked for while its code is still on the way. Failures are left to the screen, which asks again. */

import type { QueryClient } from "@tanstack/react-query";
import { attempts, type JobsWanted, job, jobFacts, jobPages, nodeGrid, readings } from "./queries";
import { token } from "./session";

/** The list of jobs. */
export function firstOfJobs(queries: QueryClient, wanted: JobsWanted): void {
  if (token()) void queries.prefetchInfiniteQuery(jobPages(wanted));
}

/** A job and, once it is known, what its newest attempt measured. */
export function firstOfJob(queries: QueryClient, id: string): void {
  if (!token()) return;
  void queries.prefetchQuery(jobFacts(id));
  void queries.prefetchQuery(attempts(id));
  void queries
    .fetchQuery(job(id))
    .then((view) => measured(queries, view.job.id, view.job.attempts ?? 0))
    .catch(() => undefined);
}

function measured(queries: QueryClient, id: string, attempt: number): void {
  if (attempt === 0) return;
  void queries.prefetchQuery(nodeGrid(id, "device_utilisation_percent", attempt));
  for (const name of ["step", "loss"]) void queries.prefetchQuery(readings(id, name, attempt));
}
