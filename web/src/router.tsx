/** Addresses: every view's state is in its URL, checked on the way in; the project goes along from page to page. */

import type { QueryClient } from "@tanstack/react-query";
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  type RouterHistory,
  retainSearchParams,
} from "@tanstack/react-router";
import type { Schemas } from "./api/client";
import { firstOfJob, firstOfJobs } from "./api/first";
import { jobsWanted } from "./api/queries";
import { Failed } from "./parts/states";
import { Console } from "./shell/Console";
import { Lost } from "./shell/Lost";

type Raw = Record<string, unknown>;
type JobState = Schemas["JobState"];

const STATES: JobState[] = [
  ...(["queued", "starting", "running", "stopping", "recovering", "held", "succeeded", "failed", "stopped"] as const),
];

const text = (value: unknown): string | undefined =>
  typeof value === "string" && value ? value : typeof value === "number" ? String(value) : undefined;

const whole = (value: unknown): number | undefined => {
  const number = typeof value === "number" || typeof value === "string" ? Number(value) : Number.NaN;
  return Number.isInteger(number) ? number : undefined;
};

const SETTINGS = [
  ...(["projects", "members", "engines", "baselines", "templates", "datasets", "queue", "audit", "me"] as const),
];

/** The states that are asked for; none: all. */
function statesOf(value: unknown): JobState[] | undefined {
  const found = (Array.isArray(value) ? value : [value]).flatMap((one) => oneOf(one, STATES) ?? []);
  return found.length > 0 ? found : undefined;
}

/** Every part of an address may be left out. */
const optional = <T extends object>(search: T): Partial<T> => search;

const oneOf = <T extends string>(value: unknown, allowed: readonly T[]): T | undefined =>
  allowed.find((one) => one === value);

interface Context {
  queries: QueryClient;
}

const root = createRootRouteWithContext<Context>()({
  component: Console,
  notFoundComponent: Lost,
  errorComponent: ({ error, reset }) => <Failed error={error} retry={reset} />,
  validateSearch: (raw: Raw): { project?: string | undefined } => ({ project: text(raw.project) }),
  search: { middlewares: [retainSearchParams(["project"])] },
});

const overview = createRoute({
  getParentRoute: () => root,
  path: "/",
  component: lazyRouteComponent(() => import("./screens/overview/Overview"), "Overview"),
});

const jobs = createRoute({
  getParentRoute: () => root,
  path: "/jobs",
  component: lazyRouteComponent(() => import("./screens/jobs/Jobs"), "Jobs"),
  validateSearch: (raw: Raw) =>
    optional({
      state: statesOf(raw.state),
      text: text(raw.text),
      owner: text(raw.owner),
      trouble: raw.trouble === true ? true : undefined,
    }),
  loaderDeps: ({ search }) => jobsWanted(search),
  loader: ({ context, deps, cause }) => cause === "enter" && firstOfJobs(context.queries, deps),
});

const job = createRoute({
  getParentRoute: () => root,
  path: "/jobs/$job",
  component: lazyRouteComponent(() => import("./screens/job/JobPage"), "JobPage"),
  validateSearch: (raw: Raw) =>
    optional({
      attempt: whole(raw.attempt),
      rank: whole(raw.rank),
      offset: whole(raw.offset),
      from: text(raw.from),
      to: text(raw.to),
      t: text(raw.t),
      nodes: oneOf(raw.nodes, ["all"] as const),
      find: text(raw.find),
      regex: raw.regex === true ? true : undefined,
      exact: raw.exact === true ? true : undefined,
    }),
  loader: ({ context, params, cause }) => cause === "enter" && firstOfJob(context.queries, params.job),
});

const submit = createRoute({
  getParentRoute: () => root,
  path: "/submit",
  component: lazyRouteComponent(() => import("./screens/submit/Submit"), "Submit"),
  validateSearch: (raw: Raw) => optional({ template: text(raw.template), like: text(raw.like) }),
});

const cluster = createRoute({
  getParentRoute: () => root,
  path: "/cluster",
  component: lazyRouteComponent(() => import("./screens/cluster/Cluster"), "Cluster"),
  validateSearch: (raw: Raw) =>
    optional({
      lens: oneOf(raw.lens, ["occupancy", "utilisation", "health"] as const),
      view: oneOf(raw.view, ["cells", "table", "idle", "readings"] as const),
      job: text(raw.job),
      metric: text(raw.metric),
      hours: whole(raw.hours),
      from: text(raw.from),
      to: text(raw.to),
    }),
});

const node = createRoute({
  getParentRoute: () => root,
  path: "/nodes/$node",
  component: lazyRouteComponent(() => import("./screens/node/NodePage"), "NodePage"),
  validateSearch: (raw: Raw) =>
    optional({ hours: whole(raw.hours), metric: text(raw.metric), from: text(raw.from), to: text(raw.to) }),
});

const usage = createRoute({
  getParentRoute: () => root,
  path: "/usage",
  component: lazyRouteComponent(() => import("./screens/usage/Usage"), "Usage"),
  validateSearch: (raw: Raw) =>
    optional({
      tab: oneOf(raw.tab, ["quota", "grants", "statement", "report", "versions", "forecast"] as const),
      month: text(raw.month),
    }),
});

const models = createRoute({
  getParentRoute: () => root,
  path: "/models",
  component: lazyRouteComponent(() => import("./screens/models/Models"), "Models"),
  validateSearch: (raw: Raw) => optional({ version: text(raw.version), against: text(raw.against) }),
});

const services = createRoute({
  getParentRoute: () => root,
  path: "/services",
  component: lazyRouteComponent(() => import("./screens/services/Services"), "Services"),
});

const service = createRoute({
  getParentRoute: () => root,
  path: "/services/$owner/$name",
  component: lazyRouteComponent(() => import("./screens/services/ServicePage"), "ServicePage"),
});

const alerts = createRoute({
  getParentRoute: () => root,
  path: "/alerts",
  component: lazyRouteComponent(() => import("./screens/alerts/Alerts"), "Alerts"),
  validateSearch: (raw: Raw) =>
    optional({
      tab: oneOf(raw.tab, ["records", "rules", "incidents", "drills", "channels"] as const),
      days: whole(raw.days),
      open: raw.open === true ? true : undefined,
    }),
});

const settings = createRoute({
  getParentRoute: () => root,
  path: "/settings",
  component: lazyRouteComponent(() => import("./screens/settings/Settings"), "Settings"),
  validateSearch: (raw: Raw) =>
    optional({
      tab: oneOf(raw.tab, SETTINGS),
      back: whole(raw.back),
    }),
});

const tree = root.addChildren([
  ...[overview, jobs, job, submit, cluster, node, usage, models, services, service, alerts, settings],
]);

export function makeRouter(queries: QueryClient, history?: RouterHistory) {
  return createRouter({
    routeTree: tree,
    context: { queries },
    defaultPreload: "intent",
    ...(history ? { history } : {}),
  });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof makeRouter>;
  }
}
