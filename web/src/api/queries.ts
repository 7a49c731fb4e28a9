/** What may be asked of the server, by resource: keys and calls, no shaping. `live` ones are asked again when facts come. */

import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, type Schemas, take } from "./client";

type Query = Record<string, unknown>;
const live = { live: true };
const V1 = "/api/v1";
const PAGE = 200;

export interface JobsWanted {
  project?: string | undefined;
  state?: Schemas["JobState"][] | undefined;
  owner?: string | undefined;
  text?: string | undefined;
}

export const me = () => queryOptions({ queryKey: ["me"], queryFn: () => take(api.GET(`${V1}/me`)) });

export const health = () => queryOptions({ queryKey: ["health"], queryFn: () => take(api.GET(`${V1}/health`)) });

/** What of an address says which jobs are asked for; trouble is looked for in what came. */
export const jobsWanted = ({ project, state, owner, text }: JobsWanted): JobsWanted => ({
  ...{ project, owner, text },
  ...(state?.length ? { state } : {}),
});

/** Jobs, newest first, page by page. */
export const jobPages = (wanted: JobsWanted) =>
  infiniteQueryOptions({
    queryKey: ["jobs", wanted as Query],
    queryFn: ({ pageParam }) =>
      take(api.GET(`${V1}/jobs`, { params: { query: { ...wanted, cursor: pageParam, limit: PAGE } } })),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
    placeholderData: keepPreviousData,
    meta: live,
  });

/** The newest jobs whose id, name, owner or project holds a text. */
export const jobsLike = (text: string, limit: number) =>
  queryOptions({
    queryKey: ["jobs", "like", text, limit],
    queryFn: () => take(api.GET(`${V1}/jobs`, { params: { query: { ...(text ? { text } : {}), limit } } })),
    placeholderData: keepPreviousData,
    staleTime: 10_000,
  });

export const job = (id: string) =>
  queryOptions({
    queryKey: ["job", id],
    queryFn: () => take(api.GET(`${V1}/jobs/{job}`, { params: { path: { job: id } } })),
    meta: live,
  });

export const attempts = (id: string) =>
  queryOptions({
    queryKey: ["job", id, "attempts"],
    queryFn: () => take(api.GET(`${V1}/jobs/{job}/attempts`, { params: { path: { job: id } } })),
    meta: live,
  });

export const checkpoints = (id: string) =>
  queryOptions({
    queryKey: ["job", id, "checkpoints"],
    queryFn: () => take(api.GET(`${V1}/jobs/{job}/checkpoints`, { params: { path: { job: id } } })),
    meta: live,
  });

/** What resuming a job from a checkpoint, else from its newest, would create and carry over. Nothing is created. */
export const resumed = (id: string, checkpoint?: string) =>
  queryOptions({
    queryKey: ["job", id, "resumed", checkpoint ?? null],
    queryFn: () =>
      take(
        api.POST(`${V1}/jobs/{job}/resume/dry-run`, {
          params: { path: { job: id } },
          body: checkpoint === undefined ? {} : { checkpoint },
        }),
      ),
    retry: false,
  });

/** How often a job should save. Reads the pool's record of months: asked once, not at every fact. */
export const cadence = (id: string) =>
  queryOptions({
    queryKey: ["cadence", id],
    queryFn: () => take(api.GET(`${V1}/jobs/{job}/cadence`, { params: { path: { job: id } } })),
  });

/** The same for a job that is not there yet. */
export const cadenceOf = (wanted: { nodes: number; engine?: string; device_type?: string }) =>
  queryOptions({
    queryKey: ["cadence", wanted],
    queryFn: () => take(api.GET(`${V1}/cadence`, { params: { query: wanted } })),
    placeholderData: keepPreviousData,
  });

export const bills = (id: string) =>
  queryOptions({
    queryKey: ["job", id, "bills"],
    queryFn: () => take(api.GET(`${V1}/jobs/{job}/bills`, { params: { path: { job: id } } })),
    meta: live,
  });

export const losses = (id: string) =>
  queryOptions({
    queryKey: ["job", id, "losses"],
    queryFn: () => take(api.GET(`${V1}/jobs/{job}/losses`, { params: { path: { job: id } } })),
    meta: live,
  });

/** Lines of a log that hold a text, one page of them. */
export const logSearch = (id: string, place: { attempt: number; rank: number }, wanted: LogWanted) =>
  infiniteQueryOptions({
    queryKey: ["job", id, "log-search", place, wanted],
    queryFn: ({ pageParam, signal }) =>
      take(
        api.GET(`${V1}/jobs/{job}/logs/search`, {
          params: {
            path: { job: id },
            query: { ...place, q: wanted.text, regex: wanted.regex, ignore_case: !wanted.exact, offset: pageParam },
          },
          signal,
        }),
      ),
    initialPageParam: 0,
    getNextPageParam: (page) => page.next ?? undefined,
    retry: false,
  });

export interface LogWanted {
  text: string;
  regex: boolean;
  exact: boolean;
}

export const ahead = (id: string) =>
  queryOptions({
    queryKey: ["job", id, "ahead"],
    queryFn: () => take(api.GET(`${V1}/jobs/{job}/ahead`, { params: { path: { job: id } } })),
    meta: live,
  });

export const sooner = (id: string) =>
  queryOptions({
    queryKey: ["job", id, "sooner"],
    queryFn: () => take(api.GET(`${V1}/jobs/{job}/sooner`, { params: { path: { job: id } } })),
  });

/** A job's facts that its time axis shows; what it says at every step is left to the readings. */
export const jobFacts = (id: string) =>
  queryOptions({
    queryKey: ["job", id, "facts"],
    queryFn: () => take(api.GET(`${V1}/facts`, { params: { query: { job: id, kind: [...AXIS_KINDS], limit: 1000 } } })),
    meta: live,
  });

export const AXIS_KINDS = [
  ...["job-submitted", "attempt-placed", "attempt-launched", "attempt-started", "stalled", "moving", "rank-slow"],
  ...["stall-explained", "rank-exited", "agent-lost", "end-explained", "attempt-ended"],
  ...["verdict-reached", "recovery-decided", "job-held", "job-released"],
  ...["drill-ordered", "stop-requested", "job-ended", "launch-failed", "restored", "preemption-ordered"],
] as const;

/** One measurement of one attempt over time. */
export const readings = (id: string, name: string, attempt: number) =>
  queryOptions({
    queryKey: ["job", id, "readings", name, attempt],
    queryFn: () =>
      take(
        api.GET(`${V1}/jobs/{job}/readings`, { params: { path: { job: id }, query: { name, attempt, points: 600 } } }),
      ),
    placeholderData: keepPreviousData,
    meta: live,
  });

/** One measurement of all nodes of one attempt over the same moments. */
export const nodeGrid = (id: string, name: string, attempt: number) =>
  queryOptions({
    queryKey: ["job", id, "grid", name, attempt],
    queryFn: () =>
      take(
        api.GET(`${V1}/jobs/{job}/readings/nodes`, {
          params: { path: { job: id }, query: { name, attempt, points: 240 } },
        }),
      ),
    placeholderData: keepPreviousData,
    meta: live,
  });

export const logRanks = (id: string, attempt?: number) =>
  queryOptions({
    queryKey: ["job", id, "ranks", attempt ?? null],
    queryFn: () => take(api.GET(`${V1}/jobs/{job}/logs/ranks`, { params: { path: { job: id }, query: { attempt } } })),
    meta: live,
  });

/** How one rank's log grew. */
export const logArrivals = (id: string, attempt: number, rank: number) =>
  queryOptions({
    queryKey: ["job", id, "arrivals", attempt, rank],
    queryFn: () =>
      take(api.GET(`${V1}/jobs/{job}/logs/arrivals`, { params: { path: { job: id }, query: { attempt, rank } } })),
    placeholderData: keepPreviousData,
    meta: live,
  });

export const nodes = () =>
  queryOptions({ queryKey: ["nodes"], queryFn: () => take(api.GET(`${V1}/nodes`)), meta: live });

export const cases = () =>
  queryOptions({ queryKey: ["cases"], queryFn: () => take(api.GET(`${V1}/cases`)), meta: live });

export const nodeCase = (node: string) =>
  queryOptions({
    queryKey: ["node", node, "case"],
    queryFn: () => take(api.GET(`${V1}/nodes/{node}/case`, { params: { path: { node } } })),
    meta: live,
  });

export const nodeLatest = (node: string) =>
  queryOptions({
    queryKey: ["node", node, "latest"],
    queryFn: () => take(api.GET(`${V1}/nodes/{node}/latest`, { params: { path: { node } } })),
  });

export const nodeReadings = (node: string, name: string, since: string, until?: string) =>
  queryOptions({
    queryKey: ["node", node, "readings", name, since, until ?? null],
    queryFn: () =>
      take(
        api.GET(`${V1}/nodes/{node}/readings`, {
          params: { path: { node }, query: { name, since, until, points: 300 } },
        }),
      ),
    placeholderData: keepPreviousData,
  });

/** One measurement across all nodes. */
export const acrossNodes = (name: string, since: string, points = 100, until?: string) =>
  queryOptions({
    queryKey: ["readings", name, since, points, until ?? null],
    queryFn: () => take(api.GET(`${V1}/readings`, { params: { query: { name, since, until, points } } })),
    placeholderData: keepPreviousData,
  });

export const retests = () =>
  queryOptions({ queryKey: ["retests"], queryFn: () => take(api.GET(`${V1}/retests`)), meta: live });

export const incidents = () =>
  queryOptions({ queryKey: ["incidents"], queryFn: () => take(api.GET(`${V1}/incidents`)), meta: live });

/** Drills with how they came out, newest first. */
export const drills = (project?: string) =>
  queryOptions({
    queryKey: ["drills", project ?? null],
    queryFn: () => take(api.GET(`${V1}/drills`, { params: { query: { project, limit: 200 } } })),
    meta: live,
  });

export const overdueDrills = () =>
  queryOptions({ queryKey: ["drills", "overdue"], queryFn: () => take(api.GET(`${V1}/drills/overdue`)) });

/** Every card with its holder. */
export const cards = (project?: string) =>
  queryOptions({
    queryKey: ["cards", project ?? null],
    queryFn: () => take(api.GET(`${V1}/cards`, { params: { query: { project } } })),
  });

/** Each project's month, without its jobs. */
export const reports = (month: string) =>
  queryOptions({
    queryKey: ["reports", month],
    queryFn: () => take(api.GET(`${V1}/reports`, { params: { query: { month } } })),
  });

export const report = (project: string, month: string) =>
  queryOptions({
    queryKey: ["reports", month, project],
    queryFn: () =>
      take(api.GET(`${V1}/projects/{project}/report`, { params: { path: { project }, query: { month } } })),
  });

export const users = () => queryOptions({ queryKey: ["users"], queryFn: () => take(api.GET(`${V1}/users`)) });

export const engines = () =>
  queryOptions({ queryKey: ["engines"], queryFn: () => take(api.GET(`${V1}/engines`)), meta: live });

/** What retests of each shape are held to. */
export const references = () =>
  queryOptions({ queryKey: ["retest-references"], queryFn: () => take(api.GET(`${V1}/retest-references`)) });

export const projects = () => queryOptions({ queryKey: ["projects"], queryFn: () => take(api.GET(`${V1}/projects`)) });

export const departments = () =>
  queryOptions({ queryKey: ["departments"], queryFn: () => take(api.GET(`${V1}/departments`)) });

export const quotaTable = () =>
  queryOptions({ queryKey: ["quota"], queryFn: () => take(api.GET(`${V1}/quota`)), meta: live });

export const quotaVersions = () =>
  queryOptions({ queryKey: ["quota", "versions"], queryFn: () => take(api.GET(`${V1}/quota/versions`)), meta: live });

export const grants = () =>
  queryOptions({ queryKey: ["grants"], queryFn: () => take(api.GET(`${V1}/grants`)), meta: live });

export const statement = (project: string, month: string) =>
  queryOptions({
    queryKey: ["statement", project, month],
    queryFn: () =>
      take(api.GET(`${V1}/projects/{project}/statement`, { params: { path: { project }, query: { month } } })),
  });

export const intervals = (project: string) =>
  queryOptions({
    queryKey: ["intervals", project],
    queryFn: () => take(api.GET(`${V1}/projects/{project}/intervals`, { params: { path: { project } } })),
  });

export const templates = () =>
  queryOptions({ queryKey: ["templates"], queryFn: () => take(api.GET(`${V1}/templates`)) });

export const datasets = () => queryOptions({ queryKey: ["datasets"], queryFn: () => take(api.GET(`${V1}/datasets`)) });

export const models = () =>
  queryOptions({ queryKey: ["models"], queryFn: () => take(api.GET(`${V1}/models`)), meta: live });

export const services = () =>
  queryOptions({ queryKey: ["services"], queryFn: () => take(api.GET(`${V1}/services`)), meta: live });

export const service = (project: string, name: string) =>
  queryOptions({
    queryKey: ["service", project, name],
    queryFn: () => take(api.GET(`${V1}/services/{project}/{name}`, { params: { path: { project, name } } })),
    meta: live,
  });

export const splits = (project: string, name: string) =>
  queryOptions({
    queryKey: ["service", project, name, "history"],
    queryFn: () => take(api.GET(`${V1}/services/{project}/{name}/history`, { params: { path: { project, name } } })),
    meta: live,
  });

export const alerts = (days: number) =>
  queryOptions({
    queryKey: ["alerts", days],
    queryFn: () => take(api.GET(`${V1}/alerts`, { params: { query: { days } } })),
    meta: live,
  });

export const alertRules = () =>
  queryOptions({ queryKey: ["alert-rules"], queryFn: () => take(api.GET(`${V1}/alert-rules`)) });

export const channels = () => queryOptions({ queryKey: ["channels"], queryFn: () => take(api.GET(`${V1}/channels`)) });

/** Through which channel one follows a job; null: one does not. */
export const following = (id: string) =>
  queryOptions({
    queryKey: ["job", id, "following"],
    queryFn: () => take(api.GET(`${V1}/jobs/{job}/following`, { params: { path: { job: id } } })),
  });

export const queueRules = () =>
  queryOptions({ queryKey: ["queue-rules"], queryFn: () => take(api.GET(`${V1}/queue/rules`)) });

export const auditFacts = (after: number) =>
  queryOptions({
    queryKey: ["facts", after],
    queryFn: () => take(api.GET(`${V1}/facts`, { params: { query: { after, limit: 500 } } })),
  });
