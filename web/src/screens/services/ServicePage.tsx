/** Is the new version safe to grow? The split now, shifting it, going back in one press, and every shift with who and why. */

import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { App, Button } from "antd";
import { api, type Schemas, take } from "../../api/client";
import { usePace } from "../../api/live";
import { service, splits } from "../../api/queries";
import { told, useWords } from "../../i18n/words";
import { useAct } from "../../parts/act";
import { useMay } from "../../parts/may";
import { Page, Panel } from "../../parts/Page";
import { Moment } from "../../parts/Quantity";
import { Simple } from "../../parts/Simple";
import { Data, Nothing, Unknown } from "../../parts/states";
import { Shift } from "./Shift";

export function ServicePage() {
  const { t } = useWords();
  const { owner, name } = useParams({ from: "/services/$owner/$name" });
  const refetchInterval = usePace(5);
  const found = useQuery({ ...service(owner, name), refetchInterval });
  const history = useQuery({ ...splits(owner, name), refetchInterval });
  return (
    <Page title={name} actions={found.data ? <Back view={found.data} history={history.data ?? []} /> : null}>
      <Data query={found}>
        {(view) => (
          <>
            <div className="row">
              <code className="mono">{view.url}</code>
              <span>{view.live ? `✓ ${t("services.live")}` : `◔ ${t("services.not-live")}`}</span>
            </div>
            <Panel title={t("services.split")}>
              <Shift view={view} />
            </Panel>
            <Unknown>{t("services.no-gates")}</Unknown>
            <Panel title={t("services.replicas")}>
              <Replicas view={view} />
            </Panel>
          </>
        )}
      </Data>
      <Panel title={t("services.history")}>
        <Data query={history}>{(found) => <History found={found} />}</Data>
      </Panel>
    </Page>
  );
}

const words = (split: Schemas["Split"]) =>
  split.shares.map((share) => `${share.version} ${share.weight} %`).join(" · ");

/** Going back asks nothing: it moves a pointer, and can itself be undone. */
function Back({ view, history }: { view: Schemas["ServiceView"]; history: Schemas["Split"][] }) {
  const { t } = useWords();
  const { message } = App.useApp();
  const may = useMay();
  const { project, name } = view.service;
  const act = useAct(
    () =>
      take(
        api.POST("/api/v1/services/{project}/{name}/rollback", {
          params: { path: { project, name } },
          body: { reason: "" },
        }),
      ),
    (split) => void message.info(t("services.back-done", { split: words(split) })),
  );
  if (!may.work(project) || history.length < 2) return null;
  return (
    <Button danger loading={act.isPending} onClick={() => act.mutate(undefined)}>
      {t("services.back")}
    </Button>
  );
}

function Replicas({ view }: { view: Schemas["ServiceView"] }) {
  const { t } = useWords();
  if (view.replicas.length === 0) return <Nothing>{t("services.no-replicas")}</Nothing>;
  const rows = view.replicas.map((one) => ({
    key: one.job,
    version: one.version,
    state: `${{ starting: "◔", ready: "✓", gone: "⊘" }[one.state]} ${t(`replica.${one.state}`)}`,
    job: (
      <Link to="/jobs/$job" params={{ job: one.job }} className="mono">
        {one.job}
      </Link>
    ),
    endpoint: <code className="mono">{one.endpoint ?? "—"}</code>,
  }));
  return (
    <Simple
      rows={rows}
      columns={[
        ["version", t("models.version")],
        ["state", t("jobs.status")],
        ["job", t("jobs.job")],
        ["endpoint", t("services.address")],
      ]}
    />
  );
}

function History({ found }: { found: Schemas["Split"][] }) {
  const { t } = useWords();
  if (found.length === 0) return <Nothing>{t("services.no-history")}</Nothing>;
  const rows = found.map((split, at) => ({
    key: String(split.number),
    number: `${split.number}${at === 0 ? ` · ${t("services.now")}` : ""}`,
    shares: words(split),
    at: <Moment at={split.at} />,
    by: split.by,
    why: split.rollback_of
      ? t("services.rolled-back", {
          number: split.rollback_of,
          reason: split.reason ? told(["why"], split.reason, t) : "",
        })
      : split.reason
        ? told(["why"], split.reason, t)
        : "—",
  }));
  return (
    <Simple
      rows={rows}
      columns={[
        ["number", t("versions.number")],
        ["shares", t("services.shares")],
        ["at", t("checkpoint.at")],
        ["by", t("audit.by")],
        ["why", t("audit.why")],
      ]}
    />
  );
}
