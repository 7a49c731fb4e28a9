/** The list of jobs: status, name, cards, progress or place in line, last sign of life. */

import { Button, Dropdown, Table, Tooltip } from "antd";
import { useSyncExternalStore } from "react";
import type { Schemas } from "../../api/client";
import { told, useWords } from "../../i18n/words";
import { allocated } from "../../parts/jobs";
import { Moment, Quantity } from "../../parts/Quantity";
import { expected } from "../../parts/range";
import { JobLink } from "../../parts/Simple";
import { JobStatus } from "../../parts/Status";
import { useStop } from "../../parts/stop";
import { duration } from "../../time/durations";
import { useNow } from "../../time/now";

type JobView = Schemas["JobView"];
const ROW = 52;

export function JobTable({ views, more }: { views: JobView[]; more: () => void }) {
  const { t } = useWords();
  const stop = useStop();
  const height = Math.min(views.length * ROW + 8, Math.max(320, useWindowHeight() - 330));
  return (
    <Table<JobView>
      virtual
      size="small"
      rowKey={(view) => view.job.id}
      dataSource={views}
      pagination={false}
      scroll={{ x: 1130, y: height }}
      onScroll={(event) => {
        const at = event.currentTarget as HTMLElement;
        if (at.scrollTop + at.clientHeight > at.scrollHeight - 20 * ROW) more();
      }}
      columns={[
        { title: t("jobs.status"), width: 150, render: (_, view) => <JobStatus view={view} /> },
        {
          title: t("jobs.job"),
          width: 270,
          render: (_, view) => (
            <>
              <JobLink view={view} />
              <div className="quiet">
                {view.job.spec.project} · {view.job.owner}
              </div>
            </>
          ),
        },
        { title: t("jobs.cards"), width: 130, render: (_, view) => <Cards view={view} /> },
        { title: t("jobs.progress"), width: 310, render: (_, view) => <Progress view={view} /> },
        { title: t("jobs.last"), width: 110, render: (_, view) => <Moment at={view.last_progress_at} /> },
        {
          title: t("jobs.card-hours"),
          width: 100,
          align: "right",
          render: (_, view) => <Quantity value={view.device_seconds / 3600} digits={1} />,
        },
        {
          title: "",
          width: 60,
          render: (_, view) => (
            <Dropdown
              trigger={["click"]}
              menu={{
                items: [
                  {
                    key: "copy",
                    label: t("jobs.copy-command"),
                    onClick: () => void navigator.clipboard?.writeText(`headway show ${view.job.id}`),
                  },
                  {
                    key: "stop",
                    label: t("action.stop"),
                    disabled: view.job.ended_at != null,
                    onClick: () => stop(view),
                  },
                ],
              }}
            >
              <Button size="small" type="text" aria-label={t("action.more", { name: view.job.spec.name })}>
                ⋯
              </Button>
            </Dropdown>
          ),
        },
      ]}
    />
  );
}

/** The height of the window in CSS pixels, as it changes. */
function useWindowHeight(): number {
  return useSyncExternalStore(
    (changed) => {
      window.addEventListener("resize", changed);
      return () => window.removeEventListener("resize", changed);
    },
    () => window.innerHeight,
  );
}

function Cards({ view }: { view: JobView }) {
  const type = view.attempt?.device_type ?? (view.job.spec.request.device_types ?? []).join(" / ");
  return (
    <span className="number">
      {view.job.ended_at ? view.devices : `${allocated(view)}/${view.devices}`} <span className="quiet">{type}</span>
    </span>
  );
}

/** Step of steps and when it ends; in line: when it starts and why it waits. */
export function Progress({ view }: { view: JobView }) {
  const { t, language } = useWords();
  const now = useNow(60);
  const { job, waits } = view;
  if (waits) {
    return (
      <Tooltip title={waits.sentence}>
        <div>
          <div className="clip line">{expected(waits.forecast, now, t)}</div>
          <div className="quiet clip line">{waits.sentence}</div>
        </div>
      </Tooltip>
    );
  }
  if (job.step == null)
    return (
      <span className="quiet">
        {job.reason ? told(["why"], job.reason, t) : view.phase ? told(["phase"], view.phase, t) : "—"}
      </span>
    );
  const share = job.total ? Math.floor((100 * job.step) / job.total) : null;
  return (
    <>
      <div className="number">
        {t("unit.step")} <Quantity value={job.step} />
        {job.total ? (
          <>
            {" / "}
            <Quantity value={job.total} /> · {share} %
          </>
        ) : null}
      </div>
      {view.left_s != null && !job.ended_at ? (
        <div className="quiet">{t("jobs.left", { time: duration(view.left_s, language) })}</div>
      ) : null}
    </>
  );
}
