/** Is it moving, and if not, where did it begin? Verdict, one time axis, the log, attempts, checkpoints, how it was launched. */

import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { Button, Space } from "antd";
import type { Schemas } from "../../api/client";
import { usePace } from "../../api/live";
import { attempts, checkpoints, job, logRanks } from "../../api/queries";
import { statusOf } from "../../design/status";
import { useWords } from "../../i18n/words";
import { useMay } from "../../parts/may";
import { Page, Panel } from "../../parts/Page";
import { Quantity } from "../../parts/Quantity";
import { JobStatus } from "../../parts/Status";
import { Data } from "../../parts/states";
import { useStop } from "../../parts/stop";
import { Attempts } from "./Attempts";
import { Axis } from "./Axis";
import { Bills } from "./Bills";
import { Cadence } from "./Cadence";
import { Checkpoints } from "./Checkpoints";
import { useDrill } from "./drill";
import { Follow } from "./Follow";
import { useRelease } from "./held";
import { Launch } from "./Launch";
import { Logs } from "./Logs";
import { Resume } from "./Resume";
import { shownRank } from "./story";
import { StallPanel, VerdictPanel } from "./VerdictPanel";
import { Waiting } from "./Waiting";

export function JobPage() {
  const { job: id } = useParams({ from: "/jobs/$job" });
  const pace = usePace(5);
  const view = useQuery({ ...job(id), refetchInterval: pace });
  return view.data ? (
    <Known view={view.data} />
  ) : (
    <Page title={id}>
      <Data query={view}>{() => null}</Data>
    </Page>
  );
}

function Known({ view }: { view: Schemas["JobView"] }) {
  const { t } = useWords();
  const id = view.job.id;
  const pace = usePace(5);
  const tries = useQuery({ ...attempts(id), refetchInterval: pace });
  const saved = useQuery({ ...checkpoints(id), refetchInterval: pace });
  const wanted = useSearch({ from: "/jobs/$job" });
  const list = tries.data ?? [];
  const chosen = list.find((one) => one.attempt.number === wanted.attempt) ?? list[list.length - 1];
  const written = useQuery({
    ...logRanks(id, chosen?.attempt.number),
    enabled: chosen !== undefined,
    refetchInterval: pace,
  });
  const rank = shownRank(wanted.rank, view, chosen ?? null, written.data);
  return (
    <Page title={<Title view={view} />} actions={<Actions view={view} saved={saved.data ?? []} />}>
      {view.waits ? <Waiting view={view} /> : null}
      {view.stall ? <StallPanel view={view} /> : null}
      {view.verdict && !view.stall ? <VerdictPanel view={view} /> : null}
      <Panel title={t("axis.title")} extra={<WindowReset />}>
        <Axis view={view} attempts={list} chosen={chosen ?? null} rank={rank} saved={saved.data ?? []} />
      </Panel>
      {chosen ? <Logs view={view} chosen={chosen} rank={rank} /> : null}
      <Panel title={t("job.attempts")}>
        <Data query={tries}>{(found) => <Attempts views={found} chosen={chosen?.attempt.number ?? null} />}</Data>
      </Panel>
      <Bills view={view} />
      <Panel title={t("job.checkpoints")}>
        <Data query={saved}>{(found) => <Checkpoints found={found} view={view} />}</Data>
      </Panel>
      <Cadence view={view} saves={(saved.data ?? []).length > 0} />
      <Panel title={t("job.launch")}>
        <Launch view={view} />
      </Panel>
    </Page>
  );
}

function Title({ view }: { view: Schemas["JobView"] }) {
  const { t } = useWords();
  const { job: it } = view;
  return (
    <span className="row" style={{ rowGap: 2 }}>
      <span className="clip" style={{ maxWidth: "60vw" }} title={it.spec.name}>
        {it.spec.name}
      </span>
      <code className="mono quiet" style={{ fontSize: 13 }}>
        {it.id}
      </code>
      <span style={{ fontSize: 14, fontWeight: 400 }} className="row">
        <JobStatus view={view} />
        {it.step != null ? (
          <span>
            {t("unit.step")} <Quantity value={it.step} />
            {it.total ? (
              <>
                /<Quantity value={it.total} />
              </>
            ) : null}
          </span>
        ) : null}
        <span className="quiet">
          {t("job.size", { cards: view.devices, nodes: it.spec.request.nodes ?? 1, attempts: it.attempts ?? 0 })}
        </span>
      </span>
    </span>
  );
}

function Actions({ view, saved }: { view: Schemas["JobView"]; saved: Schemas["Checkpoint"][] }) {
  const { t } = useWords();
  const may = useMay();
  const stop = useStop();
  const drill = useDrill();
  const release = useRelease();
  const navigate = useNavigate();
  const project = view.job.spec.project;
  const status = statusOf(view);
  const isResumable = (status === "failed" || status === "stopped") && saved.some((one) => one.state === "verified");
  return (
    <Space>
      <Follow job={view.job.id} />
      {may.work(project) && isResumable ? <Resume view={view} /> : null}
      {may.work(project) ? (
        <Button onClick={() => void navigate({ to: "/submit", search: { like: view.job.id } })}>
          {t("job.again")}
        </Button>
      ) : null}
      {may.run(project) && (status === "running" || status === "stalled") ? (
        <Button onClick={() => drill(view)}>{t("job.drill")}</Button>
      ) : null}
      {may.run(project) && status === "held" ? (
        <Button type="primary" onClick={() => release(view)}>
          {t("release.action")}
        </Button>
      ) : null}
      {may.run(project) && !view.job.ended_at ? (
        <Button danger onClick={() => void stop(view)}>
          {t("action.stop")}
        </Button>
      ) : null}
    </Space>
  );
}

function WindowReset() {
  const { t } = useWords();
  const wanted = useSearch({ from: "/jobs/$job" });
  const navigate = useNavigate({ from: "/jobs/$job" });
  if (!wanted.from) return <span className="quiet">{t("axis.how")}</span>;
  return (
    <Button
      size="small"
      onClick={() => void navigate({ search: (now) => ({ ...now, from: undefined, to: undefined }), replace: true })}
    >
      {t("axis.whole")}
    </Button>
  );
}
