/** A drill: a rank, its agent, its node, a save, or a copy of the job is broken on purpose, and the recovery measured. */

import { App, Checkbox, InputNumber, Radio } from "antd";
import { useRef, useState } from "react";
import { api, type Schemas, take } from "../../api/client";
import { type Key, useWords } from "../../i18n/words";
import { useAct } from "../../parts/act";
import { useMay } from "../../parts/may";

type Order = Schemas["NewDrill"] & { rank: number };
type JobView = Schemas["JobView"];

const KILLS = ["rank", "agent", "node", "mount", "stop"] as const;
const FIRST: Order = { kill: "rank", rank: 0, shadow: false };

export function useDrill(): (view: JobView) => void {
  const { t } = useWords();
  const { modal, message } = App.useApp();
  const order = useRef<Order>(FIRST);
  const act = useAct(
    (job: string) => take(api.POST("/api/v1/jobs/{job}/drills", { params: { path: { job } }, body: order.current })),
    (made) => void message.info(made.shadow_of ? t("drill.ordered-copy", { job: made.job }) : t("drill.ordered")),
  );
  return (view) => {
    order.current = FIRST;
    modal.confirm({
      title: t("drill.title"),
      content: (
        <Choice
          view={view}
          change={(next) => {
            order.current = next;
          }}
        />
      ),
      okText: t("job.drill"),
      cancelText: t("action.cancel"),
      onOk: () => act.mutateAsync(view.job.id).catch(() => undefined),
    });
  };
}

function Choice({ view, change }: { view: JobView; change: (order: Order) => void }) {
  const { t } = useWords();
  const may = useMay();
  const { nodes = 1, ranks_per_node: each = 1 } = view.job.spec.request;
  const [order, setOrder] = useState(FIRST);
  const set = (part: Partial<Order>) => {
    setOrder({ ...order, ...part });
    change({ ...order, ...part });
  };
  return (
    <div className="stack">
      <Radio.Group
        vertical
        aria-label={t("drill.kill")}
        value={order.kill}
        onChange={(event) => set({ kill: event.target.value })}
        options={KILLS.map((value) => ({ value, label: t(`drill.kill.${value}`) }))}
      />
      <span className="row">
        {t("log.rank")}
        <InputNumber
          aria-label={t("log.rank")}
          min={0}
          max={nodes * each - 1}
          value={order.rank}
          onChange={(rank) => set({ rank: rank ?? 0 })}
        />
      </span>
      <span className="row">
        {t("drill.at-step")}
        <InputNumber
          aria-label={t("drill.at-step")}
          style={{ width: 140 }}
          min={(view.job.step ?? 0) + 1}
          precision={0}
          placeholder={t("drill.at-once")}
          value={order.at_step ?? null}
          onChange={(step) => set({ at_step: step })}
        />
      </span>
      {may.work(view.job.spec.project) ? (
        <Checkbox checked={order.shadow} onChange={(event) => set({ shadow: event.target.checked })}>
          {t("drill.shadow")}
        </Checkbox>
      ) : null}
      <span role="note">
        {order.at_step ? `${t("drill.waits", { step: order.at_step })} ` : null}
        {t(consequence(order), { cards: view.devices })}
      </span>
    </div>
  );
}

/** What follows from an order, said before it is given. */
function consequence(order: Order): Key {
  if (order.shadow) return "drill.text-shadow";
  if (order.kill === "node") return "drill.text-node";
  if (order.kill === "mount") return "drill.text-mount";
  return order.kill === "stop" ? "drill.text-stop" : "drill.text";
}
