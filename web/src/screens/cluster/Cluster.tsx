/** Which cards are free, busy, wasted or sick? A cell per card, a table, and any reading across nodes. */

import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Input, Segmented } from "antd";
import { useMemo } from "react";
import type { Schemas } from "../../api/client";
import { usePace } from "../../api/live";
import { acrossNodes, cases, nodes } from "../../api/queries";
import { listed, told, useWords } from "../../i18n/words";
import { pools } from "../../parts/jobs";
import { Page, Panel } from "../../parts/Page";
import { Quantity } from "../../parts/Quantity";
import { Simple } from "../../parts/Simple";
import { Data, Nothing, Partial } from "../../parts/states";
import { now } from "../../time/now";
import { Cells } from "./Cells";
import { groups } from "./cells";
import { IdleCards } from "./IdleCards";
import { Readings } from "./Readings";

const RECENT_MS = 5 * 60_000;
const MINUTE_MS = 60_000;

export function Cluster() {
  const { t } = useWords();
  const wanted = useSearch({ from: "/cluster" });
  const navigate = useNavigate({ from: "/cluster" });
  const refetchInterval = usePace(15);
  const machines = useQuery({ ...nodes(), refetchInterval });
  const view = wanted.view ?? "cells";
  const views = ["cells", "table", "idle", "readings"] as const;
  return (
    <Page
      title={t("nav.cluster")}
      actions={
        <Segmented
          value={view}
          onChange={(next) => void navigate({ search: (old) => ({ ...old, view: next }) })}
          options={views.map((value) => ({ value, label: t(`cluster.${value}`) }))}
        />
      }
    >
      <Data query={machines}>
        {(found) =>
          found.length === 0 ? (
            <Nothing command="headway-server engine add">{t("cluster.none")}</Nothing>
          ) : (
            <>
              <Sums views={found} />
              {view === "cells" ? (
                <Sheet views={found} />
              ) : view === "table" ? (
                <NodeTable views={found} />
              ) : view === "idle" ? (
                <IdleCards />
              ) : (
                <Readings />
              )}
            </>
          )
        }
      </Data>
    </Page>
  );
}

function Sums({ views }: { views: Schemas["NodeView"][] }) {
  const { t, language } = useWords();
  const silent = views.filter(({ node }) => node.state === "unknown").map(({ node }) => node.name);
  return (
    <>
      <div className="row" style={{ gap: 24 }}>
        {pools(views).map((pool) => (
          <span key={pool.type}>
            {t("cluster.sum", { type: pool.type, idle: pool.idle, total: pool.total, out: pool.out })}
          </span>
        ))}
      </div>
      {silent.length > 0 ? (
        <Partial>{t("cluster.silent", { count: silent.length, names: listed(silent.slice(0, 5), language) })}</Partial>
      ) : null}
    </>
  );
}

function Sheet({ views }: { views: Schemas["NodeView"][] }) {
  const { t } = useWords();
  const wanted = useSearch({ from: "/cluster" });
  const navigate = useNavigate({ from: "/cluster" });
  const lens = wanted.lens ?? "occupancy";
  const since = new Date(Math.floor((now() - RECENT_MS) / MINUTE_MS) * MINUTE_MS).toISOString();
  const uses = useQuery({
    ...acrossNodes("device_utilisation_percent", since, 5),
    enabled: lens === "utilisation",
    refetchInterval: 30_000,
  });
  const health = useQuery({ ...cases(), enabled: lens === "health" });
  const all = useMemo(() => {
    const newest = new Map(
      (uses.data ?? []).map((one) => [`${one.node} ${one.device}`, one.points[one.points.length - 1]?.mean ?? 0]),
    );
    const levels = new Map((health.data ?? []).map((one) => [one.node.name, one.suspicion.level]));
    return groups(views, newest, levels);
  }, [views, uses.data, health.data]);
  const lenses = ["occupancy", "utilisation", "health"] as const;
  return (
    <Panel
      title={t("cluster.cells")}
      extra={
        <span className="row">
          <Input.Search
            size="small"
            allowClear
            style={{ width: 200 }}
            aria-label={t("cluster.of-job")}
            placeholder={t("cluster.of-job")}
            defaultValue={wanted.job}
            onSearch={(job) => void navigate({ search: (old) => ({ ...old, job: job || undefined }) })}
          />
          <Segmented
            size="small"
            value={lens}
            onChange={(next) => void navigate({ search: (old) => ({ ...old, lens: next }), replace: true })}
            options={lenses.map((value) => ({ value, label: t(`lens.${value}`) }))}
          />
        </span>
      }
    >
      <Cells all={all} lens={lens} job={wanted.job ?? null} />
    </Panel>
  );
}

export function NodeTable({ views }: { views: Schemas["NodeView"][] }) {
  const { t, language } = useWords();
  const rows = views.map(({ node, taken, occupied }) => ({
    key: node.name,
    name: (
      <Link to="/nodes/$node" params={{ node: node.name }}>
        {node.name}
      </Link>
    ),
    state: `${t(`node.${node.state ?? "up"}`)} ${node.reason ? told(["why"], node.reason, t) : ""}`,
    pool: `${node.engine} · ${node.device_type}`,
    cards: (
      <>
        <Quantity value={Object.keys(taken).length} />/<Quantity value={node.devices} />
      </>
    ),
    jobs: listed([...new Set(Object.values(taken))], language) || "—",
    others:
      listed(
        occupied.map((one) => `${one.by} ×${one.devices}`),
        language,
      ) || "—",
  }));
  return (
    <Simple
      rows={rows}
      columns={[
        ["name", t("nav.node")],
        ["state", t("jobs.status")],
        ["pool", t("cluster.pool")],
        ["cards", t("cluster.taken")],
        ["jobs", t("cluster.attempts")],
        ["others", t("pool.others")],
      ]}
    />
  );
}
