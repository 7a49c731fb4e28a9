/** Drills with how each came out, and which templates have not been drilled for too long. */

import { useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import type { Schemas } from "../../api/client";
import { drills, overdueDrills } from "../../api/queries";
import { told, useWords } from "../../i18n/words";
import { Moment, Quantity } from "../../parts/Quantity";
import { Simple } from "../../parts/Simple";
import { Data, Nothing } from "../../parts/states";
import { duration } from "../../time/durations";

const MARKS: Record<string, string> = { recovered: "✓", "not-recovered": "✕", missed: "⊘", waiting: "○", struck: "●" };

export function Drills() {
  const { t } = useWords();
  const { project } = useSearch({ from: "__root__" });
  const found = useQuery(drills(project));
  const row = useRow();
  return (
    <div className="stack">
      <Late project={project} />
      <Data query={found}>
        {(all) =>
          all.length === 0 ? (
            <Nothing command="headway drill order JOB">{t("drills.none")}</Nothing>
          ) : (
            <Simple
              rows={all.map(row)}
              columns={[
                ["state", t("drills.result")],
                ["job", t("jobs.job")],
                ["kill", t("drill.kill")],
                ["detect", t("drills.detect")],
                ["steps", t("bill.lost")],
                ["outage", t("drills.outage")],
                ["right", t("drills.verdict")],
                ["at", t("checkpoint.at")],
              ]}
            />
          )
        }
      </Data>
    </div>
  );
}

function useRow() {
  const { t, language } = useWords();
  const lasting = (seconds: number | null | undefined) => (seconds == null ? "—" : duration(seconds, language));
  return ({ drill, name, state, score }: Schemas["HeldDrill"]) => ({
    key: drill.id,
    state: (
      <span className={state === "not-recovered" ? "bad" : ""}>
        <span aria-hidden="true">{MARKS[state] ?? "?"}</span> {told(["drills"], state, t)}
      </span>
    ),
    job: (
      <>
        <Link to="/jobs/$job" params={{ job: drill.job }}>
          {name} <span className="quiet mono">{drill.job}</span>
        </Link>
        {drill.shadow_of ? <div className="quiet">{t("drills.copy-of", { job: drill.shadow_of })}</div> : null}
      </>
    ),
    kill: `${told(["drill.kill"], drill.kill ?? "rank", t)} · rank ${drill.rank}`,
    detect: lasting(score?.phases.detect),
    steps: <Quantity value={score?.lost_steps} unit={t("unit.steps")} />,
    outage: lasting(score?.seconds),
    right: score?.verdict_right == null ? "—" : t(score.verdict_right ? "drills.right" : "drills.wrong"),
    at: <Moment at={drill.at} />,
  });
}

function Late({ project }: { project: string | undefined }) {
  const { t } = useWords();
  const found = useQuery(overdueDrills());
  const late = (found.data ?? []).filter((one) => !project || one.project === project);
  if (late.length === 0) return null;
  return (
    <div className="notice">
      {late.map((one) => (
        <div key={`${one.project} ${one.template}`}>
          {t("drills.overdue", { project: one.project, template: one.template, days: one.days })}
        </div>
      ))}
    </div>
  );
}
