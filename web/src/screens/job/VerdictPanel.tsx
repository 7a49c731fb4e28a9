/** What was first, where, whose move it is, on which evidence; and what may be done about it. */

import { Link, useNavigate } from "@tanstack/react-router";
import { Button } from "antd";
import type { Schemas } from "../../api/client";
import { useWords } from "../../i18n/words";
import { useMay } from "../../parts/may";
import { Moment } from "../../parts/Quantity";
import { duration } from "../../time/durations";
import { useNow } from "../../time/now";
import { Held } from "./held";

const WEAK = 0.5;

/** A running job that stands still: since when, who holds it up, and what to do about that node. */
export function StallPanel({ view }: { view: Schemas["JobView"] }) {
  const { t, language } = useWords();
  const navigate = useNavigate({ from: "/jobs/$job" });
  const { operate } = useMay();
  const now = useNow().getTime();
  const stall = view.stall;
  if (!stall) return null;
  const time = duration((now - Date.parse(stall.since)) / 1000, language);
  return (
    <section className="notice" aria-label={t("job.verdict")}>
      <div>
        <strong>{t("job.verdict")}</strong> {t("stall.since", { time })} {stall.text ?? t("stall.looking")}
      </div>
      <div className="row quiet">
        {stall.node ? (
          <Link to="/nodes/$node" params={{ node: stall.node }}>
            {stall.node}
          </Link>
        ) : null}
        {stall.rank != null ? <span>rank {stall.rank}</span> : null}
        <Moment at={stall.since} />
      </div>
      {stall.detail ? (
        <pre className="mono clip" style={{ margin: "4px 0 0" }}>
          {stall.detail}
        </pre>
      ) : null}
      <div className="row" style={{ marginTop: 4 }}>
        {stall.rank != null ? (
          <Button
            size="small"
            onClick={() =>
              void navigate({
                search: (old) => ({ ...old, rank: stall.rank ?? undefined, offset: undefined, t: stall.since }),
                replace: true,
              })
            }
          >
            {t("verdict.evidence")}
          </Button>
        ) : null}
        {operate && stall.node ? (
          <Link to="/nodes/$node" params={{ node: stall.node }}>
            <Button size="small" tabIndex={-1}>
              {t("verdict.isolate")}
            </Button>
          </Link>
        ) : null}
      </div>
    </section>
  );
}

export function VerdictPanel({ view }: { view: Schemas["JobView"] }) {
  const { t } = useWords();
  const navigate = useNavigate({ from: "/jobs/$job" });
  const { operate } = useMay();
  const verdict = view.verdict;
  if (!verdict) return null;
  const first = verdict.lines?.[0];
  return (
    <section className="notice bad" aria-label={t("job.verdict")}>
      <div>
        <strong>{t("job.verdict")}</strong> {view.verdict_text ?? verdict.fault}
      </div>
      <Told verdict={verdict} />
      {view.held ? <Held held={view.held} /> : null}
      {view.next_step ? <div>{view.next_step}</div> : null}
      <div className="row" style={{ marginTop: 4 }}>
        {first ? (
          <Button
            size="small"
            onClick={() =>
              void navigate({ search: (old) => ({ ...old, rank: first.rank, offset: first.offset }), replace: true })
            }
          >
            {t("verdict.evidence")}
          </Button>
        ) : null}
        {operate && verdict.node && verdict.owner === "operator" ? (
          <Link to="/nodes/$node" params={{ node: verdict.node }}>
            <Button size="small" tabIndex={-1}>
              {t("verdict.isolate")}
            </Button>
          </Link>
        ) : null}
      </div>
      {first && !view.verdict_text?.includes(first.text) ? (
        <pre className="mono clip" style={{ margin: "4px 0 0" }}>
          {first.text}
        </pre>
      ) : null}
    </section>
  );
}

/** Where it was first, who followed, and how sure that is. */
function Told({ verdict }: { verdict: Schemas["Verdict"] }) {
  const { t } = useWords();
  const followers = verdict.followers?.length ?? 0;
  return (
    <div className="row quiet">
      {verdict.node ? (
        <Link to="/nodes/$node" params={{ node: verdict.node }}>
          {verdict.node}
        </Link>
      ) : null}
      {verdict.rank != null ? <span>rank {verdict.rank}</span> : null}
      {verdict.at ? <Moment at={verdict.at} /> : null}
      {followers > 0 ? <span>{t("verdict.followers", { count: followers })}</span> : null}
      <span>{t("verdict.sure", { percent: Math.round(verdict.confidence * 100) })}</span>
      {verdict.confidence < WEAK ? <span className="warn">{t("verdict.weak")}</span> : null}
      {verdict.drill ? <span>{t("verdict.drill")}</span> : null}
    </div>
  );
}
