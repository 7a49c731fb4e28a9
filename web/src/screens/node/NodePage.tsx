/** Can I trust this machine? How suspect it is beside its like, what happened on it, its readings, closing and retesting it. */

import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import type { Schemas } from "../../api/client";
import { usePace } from "../../api/live";
import { nodeCase, nodeLatest, nodeReadings, nodes } from "../../api/queries";
import { known, type Say, told, useWords } from "../../i18n/words";
import { FixedWindow } from "../../parts/chart/FixedWindow";
import { LazyChart } from "../../parts/chart/LazyChart";
import { MetricSelect } from "../../parts/chart/MetricSelect";
import { measured, metricName, sinceHours } from "../../parts/chart/metrics";
import { Facts, Page, Panel } from "../../parts/Page";
import { Moment } from "../../parts/Quantity";
import { Simple } from "../../parts/Simple";
import { Data, Failed, Nothing, Unknown } from "../../parts/states";
import { factName, whoOf } from "../../parts/told";
import { moment } from "../../time/durations";
import { NodeActions } from "./NodeActions";

export function NodePage() {
  const { node: name } = useParams({ from: "/nodes/$node" });
  const { t } = useWords();
  const refetchInterval = usePace(5);
  const file = useQuery({ ...nodeCase(name), refetchInterval });
  const machines = useQuery({ ...nodes(), refetchInterval });
  const here = machines.data?.find(({ node }) => node.name === name) ?? null;
  return (
    <Page title={name} actions={file.data && here ? <NodeActions view={file.data} here={here} /> : null}>
      <Data query={file}>
        {(found) => (
          <>
            <Standing view={found} here={here} />
            <Measured node={name} />
            <Panel title={t("node.faults")}>
              <Faults view={found} />
            </Panel>
            <Panel title={t("node.retests")}>
              <Retests found={found.retests} node={name} />
            </Panel>
            <Panel title={t("node.history")}>
              <History facts={found.history} />
            </Panel>
          </>
        )}
      </Data>
    </Page>
  );
}

/** How it stands, and why; what closed it stands in a line of its own. */
function stateOf({ node, cordon }: Schemas["CaseView"]["case"], t: Say): string {
  const why = node.reason && node.reason !== cordon?.reason ? told(["why"], node.reason, t) : "";
  return `${t(`node.${node.state ?? "up"}`)} ${why}`.trim();
}

function Standing({ view, here }: { view: Schemas["CaseView"]; here: Schemas["NodeView"] | null }) {
  const { t } = useWords();
  const { node, suspicion, record, attempts, cordon } = view.case;
  const level = { normal: "✓", watch: "◐", suspect: "✕" }[suspicion.level];
  const running = [...new Set(Object.values(here?.taken ?? {}))];
  return (
    <Panel>
      <Facts
        rows={[
          [t("jobs.status"), stateOf(view.case, t)],
          [
            t("node.trust"),
            <span key="t" className={suspicion.level === "suspect" ? "bad" : suspicion.level === "watch" ? "warn" : ""}>
              <span aria-hidden="true">{level}</span> {t(`level.${suspicion.level}`)} ·{" "}
              {t("node.rate", { rate: (suspicion.rate * 10).toFixed(2), norm: (suspicion.norm * 10).toFixed(2) })}
            </span>,
          ],
          [
            t("node.record"),
            t("node.counted", { faults: record.faults ?? 0, days: Math.round(record.days ?? 0), attempts }),
          ],
          [t("cluster.pool"), `${node.engine} · ${node.device_type} × ${node.devices}`],
          [
            t("node.running"),
            running.length
              ? running.map((attempt) => (
                  <Link
                    key={attempt}
                    to="/jobs/$job"
                    params={{ job: attempt.split(".")[0] ?? attempt }}
                    className="mono"
                  >
                    {attempt}{" "}
                  </Link>
                ))
              : "—",
          ],
          ...(cordon
            ? ([
                [
                  t("node.closed"),
                  `${cordon.reason}${cordon.until ? ` · ${t("node.until", { time: moment(cordon.until) })}` : ""}${cordon.needs_retest ? ` · ${t("node.needs-retest")}` : ""}`,
                ],
              ] as [string, string][])
            : []),
          ...Object.entries(node.labels ?? {}).map<[string, string]>(([name, value]) => [
            told(["label"], name, t),
            value,
          ]),
        ]}
      />
    </Panel>
  );
}

function Measured({ node }: { node: string }) {
  const { t } = useWords();
  const wanted = useSearch({ from: "/nodes/$node" });
  const navigate = useNavigate({ from: "/nodes/$node" });
  const latest = useQuery({ ...nodeLatest(node), refetchInterval: 15_000 });
  const metric = wanted.metric ?? "cpu_percent";
  const since = wanted.from ?? sinceHours(wanted.hours ?? 6);
  const series = useQuery({ ...nodeReadings(node, metric, since, wanted.to), refetchInterval: 30_000 });
  return (
    <Panel
      title={t("node.readings")}
      extra={
        <span className="row">
          <FixedWindow
            {...{ from: wanted.from, to: wanted.to }}
            clear={() => void navigate({ search: (old) => ({ ...old, from: undefined, to: undefined }) })}
          />
          <MetricSelect
            value={metric}
            onChange={(value) => void navigate({ search: (old) => ({ ...old, metric: value }) })}
          />
        </span>
      }
    >
      <Data query={latest} rows={2}>
        {(found) => (
          <div className="row quiet" style={{ gap: 16, marginBottom: 8 }}>
            {found.driver ? <span>{t("node.driver", { maker: found.maker ?? "", driver: found.driver })}</span> : null}
            {found.readings
              .filter((one) => one.device === null)
              .slice(0, 8)
              .map((one) => (
                <span key={one.name} title={moment(one.at)}>
                  {metricName(one.name, t)} <strong className="number">{measured(one.name, one.value)}</strong>
                </span>
              ))}
          </div>
        )}
      </Data>
      {series.isError ? <Failed error={series.error} retry={() => void series.refetch()} /> : null}
      {series.data?.length === 0 ? (
        <Unknown>{t("cluster.no-readings", { metric: metricName(metric, t) })}</Unknown>
      ) : null}
      {series.data?.length ? (
        <LazyChart
          metric={metric}
          lines={series.data.map((one) => ({
            name: one.device === null ? metricName(one.name, t) : `${metricName(one.name, t)} · ${one.device}`,
            points: one.points.map((point) => [Date.parse(point.at), point.mean] as [number, number]),
          }))}
        />
      ) : null}
    </Panel>
  );
}

function Faults({ view }: { view: Schemas["CaseView"] }) {
  const { t } = useWords();
  if (view.faults.length === 0) return <span className="quiet">{t("node.no-faults")}</span>;
  const rows = [...view.faults].reverse().map(({ blame, counts, why }, at) => ({
    key: String(at),
    at: <Moment at={blame.at} />,
    fault: `${blame.fault} ${blame.code ?? ""}`,
    source: factName(blame.source, t),
    card: blame.device ?? "—",
    job: blame.job ? (
      <Link to="/jobs/$job" params={{ job: blame.job }} className="mono">
        {blame.attempt ?? blame.job}
      </Link>
    ) : (
      "—"
    ),
    counts: counts ? t("node.counts") : (why ?? t("node.not-counted")),
  }));
  return (
    <Simple
      rows={rows}
      columns={[
        ["at", t("checkpoint.at")],
        ["fault", t("node.fault")],
        ["source", t("node.source")],
        ["card", t("node.card")],
        ["job", t("jobs.job")],
        ["counts", t("node.counted-title")],
      ]}
    />
  );
}

function Retests({ found, node }: { found: Schemas["Retest"][]; node: string }) {
  const { t } = useWords();
  if (found.length === 0) return <Nothing command={`headway node retest ${node}`}>{t("node.no-retests")}</Nothing>;
  const rows = [...found].reverse().map((one) => {
    const outcome = one.judgement ? known(`retest.${one.judgement.outcome}`) : null;
    const findings = (one.judgement?.findings ?? []).map(
      (it) => `${it.name} ${it.measured.toPrecision(3)} / ${it.reference.toPrecision(3)}`,
    );
    return {
      key: one.id,
      at: <Moment at={one.requested_at} />,
      by: whoOf(one.requested_by, t),
      shape: t("node.shape", { nodes: one.shape.nodes, each: one.shape.devices_per_node, program: one.shape.program }),
      outcome: outcome ? t(outcome) : one.ended_at ? t("retest.inconclusive") : t("status.running"),
      findings: [...findings, ...(one.judgement?.wrong ?? [])].join(" · ") || "—",
      job: (
        <Link to="/jobs/$job" params={{ job: one.job }} className="mono">
          {one.job}
        </Link>
      ),
    };
  });
  return (
    <Simple
      rows={rows}
      columns={[
        ["at", t("checkpoint.at")],
        ["by", t("audit.by")],
        ["shape", t("node.program")],
        ["outcome", t("node.outcome")],
        ["findings", t("node.findings")],
        ["job", t("jobs.job")],
      ]}
    />
  );
}

function History({ facts }: { facts: Record<string, unknown>[] }) {
  const { t } = useWords();
  if (facts.length === 0) return <span className="quiet">{t("node.no-history")}</span>;
  const rows = [...facts]
    .reverse()
    .slice(0, 200)
    .map((fact, at) => {
      const { kind, at: when, by, ...rest } = fact;
      const key = known(`fact.${String(kind)}`);
      return {
        key: String(at),
        at: <Moment at={String(when)} />,
        kind: key ? t(key, rest as Record<string, string>) : String(kind),
        by: whoOf(by === undefined ? null : String(by), t),
        reason: rest.reason ? told(["why"], String(rest.reason), t) : told(["node"], String(rest.state ?? "—"), t),
      };
    });
  return (
    <Simple
      rows={rows}
      columns={[
        ["at", t("checkpoint.at")],
        ["kind", t("audit.what")],
        ["by", t("audit.by")],
        ["reason", t("audit.why")],
      ]}
    />
  );
}
