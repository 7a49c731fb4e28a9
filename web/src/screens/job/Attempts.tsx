/** Attempts one under another: where each ran, how far it came, how it ended, what changed from one to the next. */

import { useNavigate } from "@tanstack/react-router";
import { Button } from "antd";
import type { Schemas } from "../../api/client";
import { known, listed, told, useWords } from "../../i18n/words";
import { Moment, Quantity } from "../../parts/Quantity";
import { Simple } from "../../parts/Simple";
import { Nothing } from "../../parts/states";
import { duration } from "../../time/durations";
import { now } from "../../time/now";

type AttemptView = Schemas["AttemptView"];

export function Attempts({ views, chosen }: { views: AttemptView[]; chosen: number | null }) {
  const { t, language } = useWords();
  const navigate = useNavigate({ from: "/jobs/$job" });
  if (views.length === 0) return <Nothing>{t("job.no-attempts")}</Nothing>;
  const lasted = ({ attempt }: AttemptView) => {
    if (!attempt.started_at) return "—";
    const end = attempt.ended_at ? Date.parse(attempt.ended_at) : now();
    return duration((end - Date.parse(attempt.started_at)) / 1000, language);
  };
  const rows = [...views].reverse().map((view) => {
    const { attempt } = view;
    const outcome = attempt.outcome ? known(`outcome.${attempt.outcome}`) : null;
    return {
      key: attempt.id,
      number: (
        <Button
          size="small"
          type={attempt.number === chosen ? "primary" : "default"}
          onClick={() =>
            void navigate({
              search: (old) => ({ ...old, attempt: attempt.number, rank: undefined, offset: undefined }),
            })
          }
        >
          {attempt.number}
        </Button>
      ),
      outcome: outcome ? t(outcome) : t(known(`attempt.${attempt.state}`) ?? "status.unknown"),
      where: `${attempt.engine} · ${listed(
        attempt.placements.map((one) => one.node),
        language,
      )}`,
      from: attempt.resume_from ? t("job.resumed", { step: attempt.resume_step ?? 0 }) : t("job.from-start"),
      step: <Quantity value={attempt.step} />,
      started: <Moment at={attempt.started_at} />,
      lasted: <span className="number">{lasted(view)}</span>,
      verdict: (
        <div className="prose">
          {view.verdict_text ?? (attempt.stop_reason ? told(["why"], attempt.stop_reason, t) : "—")}
        </div>
      ),
    };
  });
  return (
    <Simple
      rows={rows}
      columns={[
        ["number", t("job.attempt")],
        ["outcome", t("jobs.status")],
        ["where", t("job.where")],
        ["from", t("job.from")],
        ["step", t("unit.step")],
        ["started", t("job.started")],
        ["lasted", t("job.lasted")],
        ["verdict", t("job.verdict")],
      ]}
    />
  );
}
