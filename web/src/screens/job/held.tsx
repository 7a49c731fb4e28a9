/** A held job: why, since when, what lets it go; and letting it go, with the reason said once more. */

import { App } from "antd";
import { api, type Schemas, take } from "../../api/client";
import { known, useWords } from "../../i18n/words";
import { useAct } from "../../parts/act";
import { Moment } from "../../parts/Quantity";

type Why = Schemas["JobHeldView"];

export function Held({ held }: { held: Why }) {
  const { t } = useWords();
  const reason = known(`held.${held.reason}`);
  return (
    <div>
      {held.sentence}{" "}
      <span className="quiet">
        <Moment at={held.at} /> {reason ? t(reason) : held.reason}
      </span>
    </div>
  );
}

/** Asks, saying why it is held, and lets it go on. */
export function useRelease(): (view: Schemas["JobView"]) => void {
  const { t } = useWords();
  const { modal, message } = App.useApp();
  const act = useAct(
    (job: string) => take(api.POST("/api/v1/jobs/{job}/release", { params: { path: { job } } })),
    () => void message.info(t("release.asked")),
  );
  return (view) => {
    modal.confirm({
      title: t("release.title", { name: view.job.spec.name }),
      content: (
        <div className="stack">
          {view.held ? <Held held={view.held} /> : null}
          <span>{t("release.text")}</span>
        </div>
      ),
      okText: t("release.action"),
      cancelText: t("release.keep"),
      onOk: () => act.mutateAsync(view.job.id).catch(() => undefined),
    });
  };
}
