/** Which window should I look back at? Records that open their moment, incidents, rules as sentences, ways to people. */

import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Button, Checkbox, Select, Tabs } from "antd";
import { api, type Schemas, take } from "../../api/client";
import { usePace } from "../../api/live";
import { alerts, incidents } from "../../api/queries";
import { known, type Language, useWords } from "../../i18n/words";
import { useAct } from "../../parts/act";
import { useMay } from "../../parts/may";
import { Page } from "../../parts/Page";
import { Moment, Quantity } from "../../parts/Quantity";
import { Simple } from "../../parts/Simple";
import { Data, FilteredAway, Nothing } from "../../parts/states";
import { duration } from "../../time/durations";
import { now } from "../../time/now";
import { Channels } from "./Channels";
import { Drills } from "./Drills";
import { Rules } from "./Rules";
import { factOf, watchedName, watchedValue } from "./watched";

const MARGIN_MS = 10 * 60_000;
const DAYS = [1, 7, 30, 90];

export function Alerts() {
  const { t } = useWords();
  const { tab } = useSearch({ from: "/alerts" });
  const navigate = useNavigate({ from: "/alerts" });
  return (
    <Page title={t("nav.alerts")}>
      <Tabs
        activeKey={tab ?? "records"}
        onChange={(next) => void navigate({ search: (old) => ({ ...old, tab: next as typeof tab }) })}
        destroyOnHidden
        items={[
          { key: "records", label: t("alerts.records"), children: <Records /> },
          { key: "incidents", label: t("alerts.incidents"), children: <Incidents /> },
          { key: "drills", label: t("drills.title"), children: <Drills /> },
          { key: "rules", label: t("alerts.rules"), children: <Rules /> },
          { key: "channels", label: t("alerts.channels"), children: <Channels /> },
        ]}
      />
    </Page>
  );
}

function Records() {
  const { t } = useWords();
  const wanted = useSearch({ from: "/alerts" });
  const navigate = useNavigate({ from: "/alerts" });
  const days = wanted.days ?? 7;
  const found = useQuery({ ...alerts(days), refetchInterval: usePace(15) });
  return (
    <div className="stack">
      <div className="row">
        <Select
          aria-label={t("cluster.hours")}
          value={days}
          onChange={(next) => void navigate({ search: (old) => ({ ...old, days: next }) })}
          options={DAYS.map((value) => ({ value, label: t("alerts.last-days", { count: value }) }))}
        />
        <Checkbox
          checked={wanted.open ?? false}
          onChange={(event) =>
            void navigate({ search: (old) => ({ ...old, open: event.target.checked || undefined }) })
          }
        >
          {t("alerts.only-open")}
        </Checkbox>
      </div>
      <Data query={found}>
        {(all) => {
          const shown = all.filter(({ alert }) => !wanted.open || !alert.ended_at);
          if (shown.length > 0) return <List views={shown} />;
          if (all.length === 0) return <Nothing command="headway alert rule">{t("alerts.none")}</Nothing>;
          return (
            <FilteredAway
              filter={t("alerts.only-open")}
              clear={() => void navigate({ search: (old) => ({ ...old, open: undefined }) })}
            />
          );
        }}
      </Data>
    </div>
  );
}

function List({ views }: { views: Schemas["AlertView"][] }) {
  const { t, language } = useWords();
  const rows = views.map((view) => {
    const { alert } = view;
    return {
      key: alert.id,
      state: alert.ended_at ? `✓ ${t("alerts.ended")}` : <span className="bad">● {t("alerts.stands")}</span>,
      rule: (
        <>
          {alert.rule} <span className="quiet">{view.watches ? watchedName(view.watches, t) : ""}</span>
          {view.muted ? <span className="quiet"> · {t("alerts.muted")}</span> : null}
        </>
      ),
      subject: <Subject alert={alert} />,
      began: <Moment at={alert.began} />,
      lasted: lasted(view, language),
      worst: alert.worst == null ? "—" : watchedValue(view.watches ?? "", alert.worst, language),
      seen: alert.acknowledged_by ? `${alert.acknowledged_by} ${alert.note ?? ""}` : <Acknowledge alert={alert.id} />,
    };
  });
  return (
    <Simple
      rows={rows}
      columns={[
        ["state", t("jobs.status")],
        ["rule", t("alerts.rule")],
        ["subject", t("alerts.subject")],
        ["began", t("alerts.began")],
        ["lasted", t("job.lasted")],
        ["worst", t("alerts.worst")],
        ["seen", t("alerts.seen")],
      ]}
    />
  );
}

/** How long it stood; what only happens has no length. */
function lasted({ alert, watches }: Schemas["AlertView"], language: Language): string {
  if (watches && factOf(watches)) return "—";
  const end = alert.ended_at ? Date.parse(alert.ended_at) : now();
  return duration((end - Date.parse(alert.began)) / 1000, language);
}

/** What it is about, opened at the alert's own window where it has one. */
function Subject({ alert }: { alert: Schemas["AlertRecord"] }) {
  const { t } = useWords();
  const { kind, name } = alert.subject;
  const window = windowOf(alert);
  if (kind === "node")
    return (
      <Link to="/nodes/$node" params={{ node: name }} search={{ from: window.from, to: window.to }}>
        {name}
      </Link>
    );
  if (kind === "job")
    return (
      <Link to="/jobs/$job" params={{ job: name }} search={window} className="mono">
        {name}
      </Link>
    );
  if (kind === "pool") return <Link to="/cluster">{name}</Link>;
  if (kind === "branch") return <Link to="/usage">{name}</Link>;
  return <>{t("alerts.site")}</>;
}

/** From a little before it began until a little after it ended. */
export function windowOf({ began, ended_at }: Pick<Schemas["AlertRecord"], "began" | "ended_at">) {
  const end = ended_at ? Date.parse(ended_at) : now();
  return {
    from: new Date(Date.parse(began) - MARGIN_MS).toISOString(),
    to: new Date(end + MARGIN_MS).toISOString(),
    t: began,
  };
}

function Acknowledge({ alert }: { alert: string }) {
  const { t } = useWords();
  const may = useMay();
  const act = useAct(() =>
    take(api.POST("/api/v1/alerts/{alert}/acknowledge", { params: { path: { alert } }, body: { note: "" } })),
  );
  if (!may.run()) return <>—</>;
  return (
    <Button size="small" loading={act.isPending} onClick={() => act.mutate(undefined)}>
      {t("alerts.acknowledge")}
    </Button>
  );
}

function Incidents() {
  const { t } = useWords();
  const kindOf = (kind: string) => {
    const key = known(`incident.${kind}`);
    return key ? t(key) : kind;
  };
  const found = useQuery(incidents());
  return (
    <Data query={found}>
      {(all) =>
        all.length === 0 ? (
          <Nothing>{t("alerts.no-incidents")}</Nothing>
        ) : (
          <Simple
            rows={all.map((one) => ({
              key: `${one.incident.kind} ${one.incident.name} ${one.incident.began}`,
              state: one.incident.is_open ? `● ${t("alerts.stands")}` : `✓ ${t("alerts.ended")}`,
              name: `${kindOf(one.incident.kind)} · ${one.incident.name}`,
              began: <Moment at={one.incident.began} />,
              last: <Moment at={one.incident.last} />,
              failures: <Quantity value={one.incident.failures.length} />,
              idle: <Quantity value={one.idle_device_seconds / 3600} digits={1} />,
              nodes: one.nodes.map((node) => (
                <Link key={node} to="/nodes/$node" params={{ node }}>
                  {node}{" "}
                </Link>
              )),
              jobs: one.jobs.map((job) => (
                <Link key={job} to="/jobs/$job" params={{ job }} className="mono">
                  {job}{" "}
                </Link>
              )),
            }))}
            columns={[
              ["state", t("jobs.status")],
              ["name", t("alerts.incident")],
              ["began", t("alerts.began")],
              ["last", t("alerts.last")],
              ["failures", t("alerts.failures")],
              ["idle", t("overview.lost")],
              ["nodes", t("nav.node")],
              ["jobs", t("nav.jobs")],
            ]}
          />
        )
      }
    </Data>
  );
}
