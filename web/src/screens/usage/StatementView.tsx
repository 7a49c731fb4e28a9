/** A project's month: card-hours by job and basis, waiting at zero, as a table and as CSV. */

import { useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { App, Button } from "antd";
import { useState } from "react";
import { download, type Schemas } from "../../api/client";
import { intervals, projects, statement } from "../../api/queries";
import { known, type Say, useWords } from "../../i18n/words";
import { Panel } from "../../parts/Page";
import { Quantity } from "../../parts/Quantity";
import { Simple } from "../../parts/Simple";
import { Data, Nothing, Unknown } from "../../parts/states";
import { duration, moment } from "../../time/durations";
import { now } from "../../time/now";
import { Month, useMonth } from "./Month";

export function StatementView() {
  const { t } = useWords();
  const { message } = App.useApp();
  const { project } = useSearch({ from: "__root__" });
  const all = useQuery(projects());
  const of = project ?? all.data?.[0]?.name ?? "";
  const month = useMonth();
  const found = useQuery({ ...statement(of, month), enabled: of !== "" });
  if (!of) return <Nothing>{t(all.data?.length === 0 ? "settings.no-projects" : "usage.choose-project")}</Nothing>;
  const csv = `/api/v1/projects/${encodeURIComponent(of)}/statement.csv?month=${month}`;
  return (
    <div className="stack">
      <div className="row">
        <strong>{of}</strong>
        <Month />
        <Button
          onClick={() => void download(csv, `${of}-${month}.csv`).catch((error: Error) => message.error(error.message))}
        >
          CSV
        </Button>
      </div>
      <Data query={found}>{(told) => <Told told={told} />}</Data>
    </div>
  );
}

function Told({ told }: { told: Schemas["Statement"] }) {
  const { t, language } = useWords();
  const [open, setOpen] = useState<string | null>(null);
  const choose = (job: string) => setOpen((before) => (before === job ? null : job));
  const hours = (seconds: number) => <Quantity value={seconds / 3600} digits={2} />;
  const rows = told.lines.map((line) => ({
    key: `${line.job} ${line.device_type} ${line.basis}`,
    job: (
      <Link to="/jobs/$job" params={{ job: line.job }} className="mono">
        {line.job}
      </Link>
    ),
    type: line.device_type,
    basis: basisOf(line.basis, t),
    hours: hours(line.device_seconds),
    intervals: (
      <Button
        size="small"
        type="link"
        className="flush"
        aria-expanded={open === line.job}
        onClick={() => choose(line.job)}
      >
        {`${line.intervals}${line.open ? ` · ${t("usage.still-open")}` : ""}`}
      </Button>
    ),
  }));
  const waits = told.waiting.map((one) => ({
    key: one.job,
    job: (
      <Link to="/jobs/$job" params={{ job: one.job }} className="mono">
        {one.job}
      </Link>
    ),
    wait: duration(one.wait_seconds, language),
    hours: <Quantity value={0} />,
  }));
  return (
    <>
      <Panel title={t("usage.total")}>
        <div>
          {hours(told.device_seconds)} <span className="quiet">{t("unit.card-hours")}</span>
        </div>
        <div className="quiet">{t("usage.formula")}</div>
        <div className="quiet">{t("usage.as-of", { time: moment(told.as_of), zone: told.timezone })}</div>
      </Panel>
      <Panel title={t("usage.lines")}>
        {rows.length === 0 ? (
          <Nothing>{t("usage.no-lines")}</Nothing>
        ) : (
          <Simple
            rows={rows}
            columns={[
              ["job", t("jobs.job")],
              ["type", t("jobs.type")],
              ["basis", t("usage.basis")],
              ["hours", t("jobs.card-hours")],
              ["intervals", t("usage.intervals")],
            ]}
          />
        )}
      </Panel>
      {open ? <Intervals project={told.project} job={open} /> : null}
      {waits.length > 0 ? (
        <Panel title={t("usage.waits")}>
          <Simple
            rows={waits}
            columns={[
              ["job", t("jobs.job")],
              ["wait", t("usage.waited")],
              ["hours", t("jobs.card-hours")],
            ]}
          />
        </Panel>
      ) : null}
      <Unknown>{t("usage.no-money")}</Unknown>
    </>
  );
}

/** On what footing cards are billed. */
function basisOf(basis: string, t: Say): string {
  const key = known(`basis.${basis}`);
  return key ? t(key) : basis;
}

/** What a line of the statement is made of: when the job had which cards, and on what footing. */
function Intervals({ project, job }: { project: string; job: string }) {
  const { t } = useWords();
  const found = useQuery(intervals(project));
  return (
    <Panel title={t("usage.intervals-of", { job })}>
      <Data query={found}>
        {(all) => (
          <Simple
            rows={all
              .filter((one) => one.job === job)
              .map((one) => ({
                key: `${one.attempt} ${one.start}`,
                attempt: <span className="mono">{one.attempt}</span>,
                start: moment(one.start),
                end: one.end ? moment(one.end) : t("usage.still-open"),
                cards: <Quantity value={one.devices} unit={one.device_type} />,
                basis: basisOf(one.basis, t),
                grant: one.grant ?? "—",
                hours: (
                  <Quantity
                    value={(one.devices * ((one.end ? Date.parse(one.end) : now()) - Date.parse(one.start))) / 3.6e6}
                    digits={2}
                  />
                ),
              }))}
            columns={[
              ["attempt", t("job.attempts")],
              ["start", t("usage.from")],
              ["end", t("usage.to")],
              ["cards", t("jobs.cards")],
              ["basis", t("usage.basis")],
              ["grant", t("usage.grant")],
              ["hours", t("jobs.card-hours")],
            ]}
          />
        )}
      </Data>
    </Panel>
  );
}
