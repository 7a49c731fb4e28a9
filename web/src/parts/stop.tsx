/** Stopping a job: says first what is lost. */

import { useQueryClient } from "@tanstack/react-query";
import { App } from "antd";
import { api, type Schemas, take } from "../api/client";
import { checkpoints } from "../api/queries";
import { useWords } from "../i18n/words";
import { duration } from "../time/durations";
import { useAct } from "./act";

/** Asks, saying which steps would be done again, and stops. */
export function useStop(): (view: Schemas["JobView"]) => Promise<void> {
  const { t, language } = useWords();
  const { modal, message } = App.useApp();
  const queries = useQueryClient();
  const act = useAct(
    (job: string) => take(api.POST("/api/v1/jobs/{job}/stop", { params: { path: { job } }, body: {} })),
    () => void message.info(t("stop.asked")),
  );
  return async (view) => {
    const saved = await queries.fetchQuery(checkpoints(view.job.id)).catch(() => []);
    const good = saved.find((one) => one.state === "verified");
    const lost = good && view.job.step != null ? Math.max(0, view.job.step - good.step) : null;
    const time = lost != null && view.rate ? duration(lost / view.rate, language) : "—";
    const content =
      lost != null && good
        ? t("stop.resumes", { step: good.step, lost, time })
        : t(view.job.state === "queued" ? "stop.queued" : "stop.nothing-saved");
    modal.confirm({
      title: t("stop.title", { name: view.job.spec.name }),
      content,
      okText: t("action.stop"),
      okButtonProps: { danger: true },
      cancelText: t("action.keep"),
      onOk: () => act.mutateAsync(view.job.id),
    });
  };
}
