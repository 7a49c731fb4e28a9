/** What needs me now? Four numbers, the jobs in trouble by what they cost, who waits, my jobs. */

import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import type { Schemas } from "../../api/client";
import { usePace } from "../../api/live";
import { jobPages, nodes } from "../../api/queries";
import { useWords } from "../../i18n/words";
import { impact, LIVE, median, pools, troubled } from "../../parts/jobs";
import { useMay } from "../../parts/may";
import { Page, Panel } from "../../parts/Page";
import { Moment, Quantity } from "../../parts/Quantity";
import { JobLink, Simple, SubmitButton } from "../../parts/Simple";
import { JobStatus } from "../../parts/Status";
import { Failed, Loading, Nothing, Partial } from "../../parts/states";
import { duration } from "../../time/durations";
import { useNow } from "../../time/now";

type JobView = Schemas["JobView"];

export function Overview() {
  const { t } = useWords();
  const { project } = useSearch({ from: "__root__" });
  const pace = usePace(15);
  const alive = useInfiniteQuery({ ...jobPages({ project, state: LIVE }), refetchInterval: pace });
  const ended = useInfiniteQuery({ ...jobPages({ project, state: ["failed"] }), refetchInterval: pace });
  const machines = useQuery({ ...nodes(), refetchInterval: pace });
  const now = useNow(15).getTime();
  const views = (alive.data?.pages ?? []).flatMap((page) => page.items);
  const failed = (ended.data?.pages ?? []).flatMap((page) => page.items);
  const bad = troubled([...views, ...failed], now);
  const idle = machines.data ? pools(machines.data).reduce((sum, pool) => sum + pool.idle, 0) : null;
  const count = (state: string) => (alive.data ? views.filter((view) => view.job.state === state).length : null);
  return (
    <Page title={t("nav.overview")} actions={<SubmitButton />}>
      <div className="figures">
        <Figure to="/jobs" search={{ state: ["running"] }} name={t("status.running")} value={count("running")} />
        <Figure to="/jobs" search={{ state: ["queued"] }} name={t("status.queued")} value={count("queued")} />
        <Figure to="/cluster" search={{}} name={t("overview.idle")} value={idle} />
        <Figure
          to="/jobs"
          search={{ trouble: true }}
          name={t("overview.trouble")}
          value={alive.data ? bad.length : null}
        />
      </div>
      {alive.hasNextPage ? <Partial>{t("overview.more", { count: views.length })}</Partial> : null}
      {alive.isError && !alive.data ? <Failed error={alive.error} retry={() => void alive.refetch()} /> : null}
      {alive.isPending ? <Loading /> : null}
      {alive.data ? <Troubled views={bad} now={now} /> : null}
      <div className="columns">
        <Panel title={t("overview.pools")}>
          {machines.isError && !machines.data ? (
            <Failed error={machines.error} retry={() => void machines.refetch()} />
          ) : null}
          {machines.data ? <Pools machines={machines.data} views={views} /> : null}
        </Panel>
        <Panel title={t("overview.waiting")}>
          <Waits views={views} now={now} />
        </Panel>
      </div>
      {alive.data ? <Mine views={views} /> : null}
    </Page>
  );
}

interface FigureProps {
  to: "/jobs" | "/cluster";
  search: Record<string, unknown>;
  name: string;
  value: number | null;
}

function Figure({ to, search, name, value }: FigureProps) {
  return (
    <Link to={to} search={search as never} className="figure">
      <strong>
        <Quantity value={value} />
      </strong>
      <span className="quiet">{name}</span>
    </Link>
  );
}

function Troubled({ views, now }: { views: JobView[]; now: number }) {
  const { t } = useWords();
  if (views.length === 0) return <Panel title={t("overview.trouble")}>{t("overview.calm")}</Panel>;
  const rows = views.slice(0, 10).map((view) => ({
    key: view.job.id,
    status: <JobStatus view={view} />,
    name: <JobLink view={view} />,
    cards: <Quantity value={view.devices} unit={t("unit.cards")} />,
    lost: impact(view, now) ? <Quantity value={impact(view, now) / 3600} digits={1} /> : "—",
    verdict: view.stall?.text ?? view.verdict_text ?? t("job.no-verdict"),
  }));
  return (
    <Panel title={t("overview.trouble-order")}>
      <Simple
        rows={rows}
        columns={[
          ["status", t("jobs.status")],
          ["name", t("jobs.job")],
          ["cards", t("jobs.cards")],
          ["lost", t("overview.lost")],
          ["verdict", t("job.verdict")],
        ]}
      />
    </Panel>
  );
}

function Pools({ machines, views }: { machines: Schemas["NodeView"][]; views: JobView[] }) {
  const { t } = useWords();
  const found = pools(machines);
  if (found.length === 0) return <Nothing>{t("cluster.none")}</Nothing>;
  const wanted = (type: string) =>
    views
      .filter((view) => view.job.state === "queued" && couldUse(view, type))
      .reduce((sum, view) => sum + view.devices, 0);
  const rows = found.map((pool) => ({
    key: pool.type,
    type: pool.type,
    total: <Quantity value={pool.total} />,
    taken: <Quantity value={pool.taken} />,
    others: <Quantity value={pool.others} />,
    out: <Quantity value={pool.out} />,
    idle: <Quantity value={pool.idle} />,
    wanted: <Quantity value={wanted(pool.type)} />,
  }));
  return (
    <Simple
      rows={rows}
      columns={[
        ["type", t("jobs.type")],
        ["total", t("pool.total")],
        ["taken", t("pool.taken")],
        ["others", t("pool.others")],
        ["out", t("pool.out")],
        ["idle", t("pool.idle")],
        ["wanted", t("pool.wanted")],
      ]}
    />
  );
}

/** A job that names no type could run on any. */
function couldUse(view: JobView, type: string): boolean {
  const types = view.job.spec.request.device_types ?? [];
  return types.length === 0 || types.includes(type);
}

function Waits({ views, now }: { views: JobView[]; now: number }) {
  const { t, language } = useWords();
  const waits = new Map<string, number[]>();
  for (const view of views) {
    if (view.job.state !== "queued") continue;
    const waited = (now - Date.parse(view.attempt?.ended_at ?? view.job.submitted_at)) / 1000;
    waits.set(view.job.spec.project, [...(waits.get(view.job.spec.project) ?? []), waited]);
  }
  if (waits.size === 0) return <span className="quiet">{t("overview.nobody-waits")}</span>;
  const rows = [...waits].map(([project, lengths]) => ({
    key: project,
    project,
    count: <Quantity value={lengths.length} />,
    middle: duration(median(lengths) ?? 0, language),
    longest: duration(Math.max(...lengths), language),
  }));
  return (
    <Simple
      rows={rows}
      columns={[
        ["project", t("jobs.project")],
        ["count", t("overview.jobs")],
        ["middle", t("overview.median")],
        ["longest", t("overview.longest")],
      ]}
    />
  );
}

function Mine({ views }: { views: JobView[] }) {
  const { t } = useWords();
  const { user } = useMay();
  const mine = views.filter((view) => view.job.owner === user);
  const rows = mine.slice(0, 20).map((view) => ({
    key: view.job.id,
    status: <JobStatus view={view} />,
    name: <JobLink view={view} />,
    cards: <Quantity value={view.devices} unit={t("unit.cards")} />,
    last: <Moment at={view.last_progress_at ?? view.job.submitted_at} />,
  }));
  return (
    <Panel title={t("overview.mine")}>
      {rows.length === 0 ? (
        <Nothing command="headway submit job.toml" action={<SubmitButton />}>
          {t("overview.mine-none")}
        </Nothing>
      ) : (
        <Simple
          rows={rows}
          columns={[
            ["status", t("jobs.status")],
            ["name", t("jobs.job")],
            ["cards", t("jobs.cards")],
            ["last", t("jobs.last")],
          ]}
        />
      )}
    </Panel>
  );
}
