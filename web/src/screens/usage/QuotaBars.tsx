/** A bar for each branch and device type: used within its own, borrowed, and the mark of what is promised. */

import { useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { Table, Tooltip } from "antd";
import type { Schemas } from "../../api/client";
import { usePace } from "../../api/live";
import { quotaTable } from "../../api/queries";
import { useScheme } from "../../design/scheme";
import { useWords } from "../../i18n/words";
import { Panel } from "../../parts/Page";
import { Moment, Quantity } from "../../parts/Quantity";
import { FIGURED, Simple } from "../../parts/Simple";
import { Data, Nothing } from "../../parts/states";

type Entry = Schemas["EntryView"];

export function QuotaBars() {
  const { t } = useWords();
  const { project } = useSearch({ from: "__root__" });
  const table = useQuery({ ...quotaTable(), refetchInterval: usePace(15) });
  return (
    <Data query={table}>
      {(found) => {
        const shown = found.entries.filter((entry) => !project || entry.branch === project);
        if (shown.length === 0)
          return <Nothing command="headway quota propose quota.yaml">{t("usage.no-quota")}</Nothing>;
        return (
          <div className="stack">
            <Bars entries={shown} />
            <span className="quiet">{t("usage.bar-legend")}</span>
            <Lent held={found.lent} />
          </div>
        );
      }}
    </Data>
  );
}

function Bars({ entries }: { entries: Entry[] }) {
  const { t } = useWords();
  const top = new Map<string, number>();
  for (const entry of entries) {
    const reach = Math.max(entry.used, entry.guaranteed + entry.granted);
    top.set(entry.device_type, Math.max(top.get(entry.device_type) ?? 1, reach));
  }
  const budget = (entry: Entry) => {
    const most = entry.budget.hard ?? entry.budget.soft;
    return most == null ? t("usage.no-budget") : t("usage.of-budget", { spent: entry.spent, most });
  };
  return (
    <Table<Entry>
      size="small"
      rowKey={(entry) => `${entry.branch} ${entry.device_type}`}
      dataSource={entries}
      pagination={false}
      scroll={{ x: "max-content" }}
      columns={[
        {
          title: t("usage.branch"),
          render: (_, entry) => (
            <span style={{ paddingLeft: entry.is_project ? 16 : 0, fontWeight: entry.is_project ? 400 : 600 }}>
              {entry.branch} <span className="quiet">{t(entry.is_project ? "usage.project" : "usage.department")}</span>
            </span>
          ),
        },
        { title: t("jobs.type"), dataIndex: "device_type" },
        {
          title: t("usage.bar"),
          width: 320,
          render: (_, entry) => <Bar entry={entry} top={top.get(entry.device_type) ?? 1} />,
        },
        { title: t("usage.used"), ...FIGURED, render: (_, entry) => <Quantity value={entry.used} /> },
        {
          title: t("usage.own"),
          ...FIGURED,
          render: (_, entry) => <Quantity value={entry.guaranteed + entry.granted} />,
        },
        { title: t("usage.borrowed"), ...FIGURED, render: (_, entry) => <Quantity value={entry.borrowed} /> },
        { title: t("usage.lent"), ...FIGURED, render: (_, entry) => <Quantity value={entry.lent} /> },
        {
          title: t("usage.spent"),
          ...FIGURED,
          render: (_, entry) => <Quantity value={entry.spent} digits={1} unit={t("unit.card-hours")} />,
        },
        { title: t("usage.budget"), render: (_, entry) => budget(entry) },
      ]}
    />
  );
}

function Bar({ entry, top }: { entry: Entry; top: number }) {
  const { t } = useWords();
  const { ink } = useScheme();
  const own = entry.guaranteed + entry.granted;
  const percent = (count: number) => `${(100 * count) / top}%`;
  const words = t("usage.bar-words", { used: entry.used, own, borrowed: entry.borrowed });
  return (
    <Tooltip title={words}>
      <div className="bar" role="img" aria-label={words} style={{ minWidth: 200 }}>
        <span style={{ width: percent(entry.used - entry.borrowed), background: ink.accent }} />
        <span
          style={{
            width: percent(entry.borrowed),
            background: `repeating-linear-gradient(45deg, ${ink.warn} 0 3px, transparent 3px 6px)`,
          }}
        />
        <i style={{ left: `calc(${percent(own)} - 2px)` }} />
      </div>
    </Tooltip>
  );
}

function Lent({ held }: { held: Schemas["HeldView"][] }) {
  const { t } = useWords();
  const rows = held.map((one) => ({
    key: one.attempt,
    project: one.project,
    owner: one.owner,
    job: (
      <Link to="/jobs/$job" params={{ job: one.job }} className="mono">
        {one.job}
      </Link>
    ),
    cards: <Quantity value={one.devices} unit={one.device_type} />,
    since: <Moment at={one.since} />,
  }));
  return (
    <Panel title={t("usage.who-borrows")}>
      {rows.length === 0 ? (
        <span className="quiet">{t("usage.nobody-borrows")}</span>
      ) : (
        <Simple
          rows={rows}
          columns={[
            ["project", t("jobs.project")],
            ["owner", t("usage.owner")],
            ["job", t("jobs.job")],
            ["cards", t("jobs.cards")],
            ["since", t("usage.since")],
          ]}
        />
      )}
    </Panel>
  );
}
