/** Going on with a job that has ended: first what a resume would create, what is lost, and what is carried over. */

import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { App, Button, Modal } from "antd";
import { useRef, useState } from "react";
import { api, type Schemas, take } from "../../api/client";
import { resumed } from "../../api/queries";
import { known, useWords } from "../../i18n/words";
import { useAct } from "../../parts/act";
import { expected, unforeseen } from "../../parts/range";
import { Data } from "../../parts/states";
import { useNow } from "../../time/now";

const SIGNS: Record<string, string> = { yes: "✓", unsure: "?", no: "✕" };

/** From this checkpoint; without one, from the newest that verifies. */
export function Resume({ view, checkpoint }: { view: Schemas["JobView"]; checkpoint?: string }) {
  const { t } = useWords();
  const [isOpen, open] = useState(false);
  return (
    <>
      <Button size={checkpoint ? "small" : "middle"} onClick={() => open(true)}>
        {t(checkpoint ? "resume.here" : "resume.action")}
      </Button>
      {isOpen ? <Asking view={view} checkpoint={checkpoint} close={() => open(false)} /> : null}
    </>
  );
}

interface Asked {
  view: Schemas["JobView"];
  checkpoint: string | undefined;
  close: () => void;
}

function Asking({ view, checkpoint, close }: Asked) {
  const { t } = useWords();
  const move = useQuery(resumed(view.job.id, checkpoint));
  const send = useResume(view.job.id);
  return (
    <Modal
      open
      title={t("resume.title", { name: view.job.spec.name })}
      okText={t("resume.action")}
      okButtonProps={{ disabled: !move.data || move.isError, loading: send.isPending }}
      cancelText={t("action.cancel")}
      onOk={() => move.data && send.mutate(move.data.path, { onSuccess: close })}
      onCancel={close}
    >
      <Data query={move} rows={4}>
        {(seen) => <Foreseen seen={seen} last={view.job.step ?? null} />}
      </Data>
    </Modal>
  );
}

/** Sends the very checkpoint that was shown: a newer one would carry over something else. */
function useResume(job: string) {
  const { t } = useWords();
  const navigate = useNavigate();
  const { message } = App.useApp();
  const key = useRef(crypto.randomUUID());
  return useAct(
    (checkpoint: string) =>
      take(
        api.POST("/api/v1/jobs/{job}/resume", {
          params: { path: { job } },
          body: { checkpoint },
          headers: { "Idempotency-Key": key.current },
        }),
      ),
    (made) => {
      void message.success(t("submit.done", { job: made.id }));
      void navigate({ to: "/jobs/$job", params: { job: made.id } });
    },
  );
}

function Foreseen({ seen, last }: { seen: Schemas["MoveView"]; last: number | null }) {
  const { t } = useWords();
  const now = useNow(60);
  const lost = last === null ? null : Math.max(0, last - seen.step);
  return (
    <div className="stack">
      <div>{t("resume.new", { name: seen.spec.name, step: seen.step })}</div>
      {lost === null || last === null ? null : (
        <strong>{lost > 0 ? t("resume.lost", { last, lost }) : t("resume.nothing-lost")}</strong>
      )}
      <div>
        {expected(seen.forecast, now, t)} <span className="quiet">{unforeseen(seen.forecast, t)}</span>
      </div>
      <ul aria-label={t("resume.carries")} style={{ margin: 0, padding: 0, listStyle: "none" }}>
        {seen.carries.map((one) => (
          <Carry key={one.what} carry={one} />
        ))}
      </ul>
      <code className="mono quiet" style={{ overflowWrap: "anywhere" }}>
        {seen.path}
      </code>
    </div>
  );
}

function Carry({ carry }: { carry: Schemas["CarryView"] }) {
  const { t } = useWords();
  const word = known(`carried.${carry.carried}`);
  const look = carry.carried === "no" ? "bad" : carry.carried === "unsure" ? "warn" : "quiet";
  return (
    <li>
      <span className={look}>
        <span aria-hidden="true">{SIGNS[carry.carried] ?? "·"}</span> {word ? t(word) : carry.carried}
      </span>{" "}
      {carry.sentence}
    </li>
  );
}
