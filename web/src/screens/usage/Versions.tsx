/** Quota tables: who proposed which change and why, and the decision. */

import { useQuery } from "@tanstack/react-query";
import { Button, Table } from "antd";
import { api, type Schemas, take } from "../../api/client";
import { quotaVersions } from "../../api/queries";
import { known, useWords } from "../../i18n/words";
import { useAct } from "../../parts/act";
import { useMay } from "../../parts/may";
import { Moment } from "../../parts/Quantity";
import { Data, Nothing } from "../../parts/states";

type Version = Schemas["QuotaVersion"];

export function Versions() {
  const { t } = useWords();
  const found = useQuery(quotaVersions());
  return (
    <Data query={found}>
      {(all) =>
        all.length === 0 ? (
          <Nothing command="headway quota propose quota.yaml">{t("versions.none")}</Nothing>
        ) : (
          <Table<Version>
            size="small"
            rowKey="number"
            dataSource={[...all].sort((a, b) => b.number - a.number)}
            pagination={false}
            scroll={{ x: "max-content" }}
            expandable={{ expandedRowRender: (version) => <Diff lines={version.diff} /> }}
            columns={[
              { title: t("versions.number"), dataIndex: "number" },
              { title: t("jobs.status"), render: (_, version) => <Standing version={version} /> },
              { title: t("versions.author"), dataIndex: "author" },
              { title: t("audit.why"), dataIndex: "reason" },
              { title: t("versions.proposed"), render: (_, version) => <Moment at={version.proposed_at} /> },
              { title: t("versions.from"), render: (_, version) => <Moment at={version.in_force_from} /> },
              { title: t("grants.decision"), render: (_, version) => <Decide version={version} /> },
            ]}
          />
        )
      }
    </Data>
  );
}

function Standing({ version }: { version: Version }) {
  const { t } = useWords();
  const dropped = version.dropped_as ? known(`versions.${version.dropped_as}`) : null;
  if (dropped) return <>{`${t(dropped)} · ${version.dropped_by} ${version.dropped_why ?? ""}`}</>;
  return <>{version.approved_at ? t("versions.approved", { by: version.approved_by ?? "—" }) : t("versions.open")}</>;
}

function Diff({ lines }: { lines: string[] }) {
  const tone = (line: string) => (line.startsWith("-") ? "bad" : line.startsWith("+") ? "" : "quiet");
  return (
    <pre className="mono" style={{ margin: 0 }}>
      {lines.map((line, at) => (
        <div key={at} className={tone(line)}>
          {line}
        </div>
      ))}
    </pre>
  );
}

function Decide({ version }: { version: Version }) {
  const { t } = useWords();
  const may = useMay();
  const path = { number: version.number };
  const approve = useAct(() =>
    take(api.POST("/api/v1/quota/versions/{number}/approve", { params: { path }, body: {} })),
  );
  const reject = useAct(() =>
    take(
      api.POST("/api/v1/quota/versions/{number}/reject", {
        params: { path },
        body: { reason: t("versions.rejected") },
      }),
    ),
  );
  if (version.approved_at || version.dropped_as) return <>—</>;
  if (!may.operate) return <span className="quiet">{t("grants.who")}</span>;
  if (version.author === may.user) return <span className="quiet">{t("grants.own")}</span>;
  return (
    <span className="row">
      <Button size="small" type="primary" loading={approve.isPending} onClick={() => approve.mutate(undefined)}>
        {t("grants.approve")}
      </Button>
      <Button size="small" onClick={() => reject.mutate(undefined)}>
        {t("grants.deny")}
      </Button>
    </span>
  );
}
