/** Checkpoints: verified or not, how large, what a resume from each would do again. */

import { Button } from "antd";
import { useState } from "react";
import type { Schemas } from "../../api/client";
import { known, told, useWords } from "../../i18n/words";
import { useMay } from "../../parts/may";
import { brief, bytes, Moment, Quantity } from "../../parts/Quantity";
import { Simple } from "../../parts/Simple";
import { Nothing } from "../../parts/states";
import { Resume } from "./Resume";

const SIGNS = { saved: "▵", verified: "▲", rejected: "△", deleted: "×" } as const;

export function Checkpoints({ found, view }: { found: Schemas["Checkpoint"][]; view: Schemas["JobView"] }) {
  const { t, language } = useWords();
  const may = useMay();
  const [all, showAll] = useState(false);
  if (found.length === 0)
    return <Nothing>{t(view.job.ended_at ? "job.had-no-checkpoints" : "job.no-checkpoints")}</Nothing>;
  const gone = found.filter((one) => one.state === "deleted").length;
  const shown = all ? found : found.filter((one) => one.state !== "deleted");
  const isResumable = Boolean(view.job.ended_at) && may.work(view.job.spec.project);
  const rows = shown.map((one) => {
    const state = one.state ?? "saved";
    return {
      key: one.path,
      step: <Quantity value={one.step} />,
      state: (
        <span className={state === "rejected" ? "bad" : ""}>
          <span aria-hidden="true">{SIGNS[state]}</span> {t(known(`checkpoint.${state}`) ?? "status.unknown")}{" "}
          {one.state === "rejected" && one.reason ? told(["why"], one.reason, t) : null}
        </span>
      ),
      again:
        view.job.step == null || state !== "verified" ? (
          "—"
        ) : (
          <Quantity value={Math.max(0, view.job.step - one.step)} unit={t("unit.steps")} />
        ),
      size: bytes(one.bytes),
      seconds: brief(one.seconds, language),
      at: <Moment at={one.saved_at} />,
      path: <code className="mono">{one.path}</code>,
      resume: isResumable && state === "verified" ? <Resume view={view} checkpoint={one.path} /> : null,
    };
  });
  return (
    <>
      <Simple
        rows={rows}
        columns={[
          ["step", t("unit.step")],
          ["state", t("jobs.status")],
          ["again", t("checkpoint.again")],
          ["size", t("checkpoint.size")],
          ["seconds", t("checkpoint.seconds")],
          ["at", t("checkpoint.at")],
          ["path", t("checkpoint.path")],
          ...(isResumable ? [["resume", ""] as [string, string]] : []),
        ]}
      />
      {gone > 0 ? (
        <Button size="small" type="link" onClick={() => showAll(!all)}>
          {t(all ? "checkpoint.fold" : "checkpoint.unfold", { count: gone })}
        </Button>
      ) : null}
    </>
  );
}
