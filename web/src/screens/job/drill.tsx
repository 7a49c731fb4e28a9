/** A drill: one rank is killed on purpose, and the recovery measured. */

import { App, InputNumber } from "antd";
import { useRef } from "react";
import { api, type Schemas, take } from "../../api/client";
import { useWords } from "../../i18n/words";
import { useAct } from "../../parts/act";

export function useDrill(): (view: Schemas["JobView"]) => void {
  const { t } = useWords();
  const { modal, message } = App.useApp();
  const rank = useRef(0);
  const act = useAct(
    (job: string) =>
      take(
        api.POST("/api/v1/jobs/{job}/drills", {
          params: { path: { job } },
          body: { kill: "rank", rank: rank.current, shadow: false },
        }),
      ),
    () => void message.info(t("drill.ordered")),
  );
  return (view) => {
    const { nodes = 1, ranks_per_node: each = 1 } = view.job.spec.request;
    rank.current = 0;
    modal.confirm({
      title: t("drill.title"),
      content: (
        <div className="stack">
          <span>{t("drill.text")}</span>
          <span className="row">
            {t("log.rank")}
            <InputNumber
              aria-label={t("log.rank")}
              min={0}
              max={nodes * each - 1}
              defaultValue={0}
              onChange={(value) => (rank.current = value ?? 0)}
            />
          </span>
        </div>
      ),
      okText: t("job.drill"),
      cancelText: t("action.cancel"),
      onOk: () => act.mutateAsync(view.job.id),
    });
  };
}
