/** ⌘K: jump to a page, a job or a node by a part of its name. */

import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Input, type InputRef, Modal } from "antd";
import { useEffect, useMemo, useRef, useState } from "react";
import { jobsLike, nodes } from "../api/queries";
import { useWords } from "../i18n/words";
import { PLACES } from "./places";

interface Goal {
  key: string;
  label: string;
  note: string;
  go: () => void;
}

const SHOWN = 12;
const SETTLED_MS = 150;

export function Palette({ open, close }: { open: boolean; close: () => void }) {
  const { t } = useWords();
  const [wanted, setWanted] = useState("");
  const [at, setAt] = useState(0);
  const field = useRef<InputRef>(null);
  const goals = useGoals(wanted.trim().toLowerCase(), open);
  const choose = (goal: Goal | undefined) => {
    if (!goal) return;
    close();
    setWanted("");
    goal.go();
  };
  const pressed = (event: React.KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      setAt((now) => (now + step + goals.length) % Math.max(1, goals.length));
    } else if (event.key === "Enter") choose(goals[at]);
  };
  return (
    <Modal
      open={open}
      onCancel={close}
      footer={null}
      title={t("palette.title")}
      destroyOnHidden
      afterOpenChange={(shown) => shown && field.current?.focus()}
    >
      <Input
        ref={field}
        role="combobox"
        aria-expanded
        aria-controls="palette-goals"
        aria-activedescendant={goals[at] ? `goal-${at}` : undefined}
        aria-label={t("palette.title")}
        placeholder={t("palette.hint")}
        value={wanted}
        onChange={(event) => {
          setWanted(event.target.value);
          setAt(0);
        }}
        onKeyDown={pressed}
      />
      <div id="palette-goals" role="listbox" aria-label={t("palette.title")} style={{ marginTop: 8 }}>
        {goals.map((goal, place) => (
          <div
            key={goal.key}
            id={`goal-${place}`}
            role="option"
            tabIndex={-1}
            aria-selected={place === at}
            className="spread"
            style={{ padding: "6px 8px", cursor: "pointer", background: place === at ? "var(--raised)" : undefined }}
            onMouseEnter={() => setAt(place)}
            onClick={() => choose(goal)}
            onKeyDown={() => {}}
          >
            <span>{goal.label}</span>
            <span className="quiet mono">{goal.note}</span>
          </div>
        ))}
        {goals.length === 0 ? <div className="quiet">{t("palette.nothing")}</div> : null}
      </div>
    </Modal>
  );
}

function useGoals(wanted: string, open: boolean): Goal[] {
  const { t } = useWords();
  const navigate = useNavigate();
  const jobs = useQuery({ ...jobsLike(useSettled(wanted), SHOWN), enabled: open });
  const machines = useQuery({ ...nodes(), enabled: open });
  return useMemo(() => {
    const pages = PLACES.map<Goal>((place) => ({
      key: place.to,
      label: t(place.word),
      note: place.keys,
      go: () => void navigate({ to: place.to }),
    }));
    const works = (jobs.data?.items ?? []).map<Goal>(({ job }) => ({
      key: job.id,
      label: job.spec.name,
      note: `${job.id} · ${job.spec.project}`,
      go: () => void navigate({ to: "/jobs/$job", params: { job: job.id } }),
    }));
    const hosts = (machines.data ?? []).map<Goal>(({ node }) => ({
      key: `node ${node.name}`,
      label: node.name,
      note: `${t("nav.node")} · ${node.device_type}`,
      go: () => void navigate({ to: "/nodes/$node", params: { node: node.name } }),
    }));
    const fits = (goal: Goal) => `${goal.label} ${goal.note}`.toLowerCase().includes(wanted);
    return [...pages, ...works, ...hosts].filter(fits).slice(0, SHOWN);
  }, [wanted, jobs.data, machines.data, navigate, t]);
}

/** What is typed, once nothing more is typed for a moment: not every letter is a question. */
function useSettled(typed: string): string {
  const [settled, settle] = useState(typed);
  useEffect(() => {
    const timer = setTimeout(() => settle(typed), SETTLED_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return settled;
}
