/** A month as evidence: how long jobs waited, what was used of one's own, what failed; and what more nodes would have changed. */

import { useMutation, useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { Button, Input } from "antd";
import type { ReactNode } from "react";
import { api, type Schemas, take } from "../../api/client";
import { nodes, report, reports } from "../../api/queries";
import { type Language, type Say, useWords } from "../../i18n/words";
import { Panel } from "../../parts/Page";
import { figure, Quantity } from "../../parts/Quantity";
import { type Row, Simple } from "../../parts/Simple";
import { Data, Failed, Nothing } from "../../parts/states";
import { duration } from "../../time/durations";
import { Month, useMonth } from "./Month";

type Report = Schemas["Report-Output"];

export function ReportView() {
  const { t } = useWords();
  const { project } = useSearch({ from: "__root__" });
  const month = useMonth();
  const found = useQuery(reports(month));
  return (
    <div className="stack">
      <div className="row">
        <Month />
      </div>
      <Data query={found}>
        {(all) => {
          const shown = all.filter((one) => !project || one.project === project);
          return shown.length === 0 ? <Nothing>{t("settings.no-projects")}</Nothing> : <Months all={shown} />;
        }}
      </Data>
      {project ? <JobLines project={project} month={month} /> : <p className="quiet">{t("report.choose")}</p>}
      <WithMore key={month} month={month} />
    </div>
  );
}

const lasting = (seconds: number | null, language: Language) => (seconds === null ? "—" : duration(seconds, language));

const share = (value: number | null, language: Language) =>
  value === null ? "—" : `${figure(100 * value, 1, language)} %`;

export function Months({ all }: { all: Report[] }) {
  const { t, language } = useWords();
  const rows = all.map(({ project, waited, used, failed }) => ({
    key: project,
    project,
    starts: <Quantity value={waited.starts} />,
    mean: lasting(waited.mean_s, language),
    p90: lasting(waited.p90_s, language),
    longest: lasting(waited.max_s, language),
    waiting: <Quantity value={waited.waiting} />,
    used: used.map((one) => (
      <div key={one.device_type} className="number">
        {one.device_type} {share(one.utilisation, language)}
      </div>
    )),
    failed: failed.ended === 0 ? "—" : `${share(failed.rate, language)} · ${failed.failed}/${failed.ended}`,
  }));
  return (
    <Simple
      rows={rows}
      columns={[
        ["project", t("jobs.project")],
        ["starts", t("report.starts")],
        ["mean", t("report.mean")],
        ["p90", t("report.p90")],
        ["longest", t("report.longest")],
        ["waiting", t("report.waiting")],
        ["used", t("report.used")],
        ["failed", t("report.failed")],
      ]}
    />
  );
}

/** The lines that a project's figures add up from. */
function JobLines({ project, month }: { project: string; month: string }) {
  const { t, language } = useWords();
  const found = useQuery(report(project, month));
  const line = (job: Schemas["JobLine"]): Row => ({
    key: job.job,
    job: (
      <Link to="/jobs/$job" params={{ job: job.job }}>
        {job.name} <span className="quiet mono">{job.job}</span>
      </Link>
    ),
    devices: <Quantity value={job.devices} />,
    waited: waited(job, t, language),
    hours: <Quantity value={(job.device_seconds ?? 0) / 3600} digits={1} />,
    attempts: <Quantity value={job.attempts} />,
    failed: <Quantity value={job.failed} />,
    preempted: <Quantity value={job.preempted} />,
  });
  return (
    <Panel title={t("report.jobs", { project })}>
      <Data query={found}>
        {(told) => (
          <Simple
            rows={told.jobs.map(line)}
            columns={[
              ["job", t("jobs.job")],
              ["devices", t("jobs.cards")],
              ["waited", t("report.waited")],
              ["hours", t("jobs.card-hours")],
              ["attempts", t("job.attempts")],
              ["failed", t("alerts.failures")],
              ["preempted", t("report.preempted")],
            ]}
          />
        )}
      </Data>
    </Panel>
  );
}

/** Plays the month again with more nodes: nothing is changed by it. */
export function WithMore({ month }: { month: string }) {
  const { t } = useWords();
  const type = useQuery(nodes()).data?.[0]?.node.device_type ?? "H800";
  const act = useMutation({
    mutationFn: (add: string) =>
      take(
        api.GET("/api/v1/reports/with-more", {
          params: { query: { month, add: add.split(/[\s,]+/).filter(Boolean) } },
        }),
      ),
  });
  return (
    <Panel title={t("report.more")}>
      <form
        className="row"
        onSubmit={(event) => {
          event.preventDefault();
          act.mutate(String(new FormData(event.currentTarget).get("add")));
        }}
      >
        <Input name="add" required aria-label={t("report.add")} placeholder={`4x8x${type}`} style={{ width: 240 }} />
        <Button htmlType="submit" loading={act.isPending}>
          {t("report.rehearse")}
        </Button>
        <span className="quiet">{t("report.add-help")}</span>
      </form>
      {act.isError ? <Failed error={act.error} /> : null}
      {act.data ? <Rehearsed told={act.data} /> : null}
    </Panel>
  );
}

function Rehearsed({ told }: { told: Schemas["WithMore"] }) {
  const { t, language } = useWords();
  const rows = [...Object.entries(told.projects), [t("report.all"), told.whole] as const];
  return (
    <div role="status" style={{ marginTop: 8 }}>
      <Simple
        rows={rows.map(([name, sides]) => ({ key: name, name, ...sidesOf(sides, t, language) }))}
        columns={[
          ["name", t("jobs.project")],
          ["jobs", t("nav.jobs")],
          ["mean", t("report.mean")],
          ["p90", t("report.p90")],
          ["evicted", t("report.evicted")],
          ["utilised", t("report.utilised")],
        ]}
      />
      {told.left_out > 0 ? <span className="quiet">{t("report.left-out", { count: told.left_out })}</span> : null}
    </div>
  );
}

/** Each figure with the nodes there are, and with those added. */
function sidesOf({ before, after }: Schemas["Sides"], t: Say, language: Language): Record<string, ReactNode> {
  const both = (shown: (side: Schemas["headway__scheduler__rehearse__Outcome"]) => string) =>
    t("report.from-to", { before: shown(before), after: shown(after) });
  return {
    jobs: <Quantity value={before.jobs} />,
    mean: both((side) => lasting(side.mean_wait, language)),
    p90: both((side) => lasting(side.p90_wait, language)),
    evicted: both((side) => figure(side.evictions, 0, language)),
    utilised: both((side) => share(side.utilisation, language)),
  };
}

/** How long it waited for its starts; a wait that goes on is counted once it has ended. */
export function waited(job: Schemas["JobLine"], t: Say, language: Language): string {
  if (job.waiting && !job.starts) return t("report.still");
  const told = duration(job.wait_seconds ?? 0, language);
  return job.waiting ? `${told} · ${t("report.still")}` : told;
}
