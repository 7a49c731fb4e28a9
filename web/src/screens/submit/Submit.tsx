/** What will happen if I press this? A form from the template's schema, the same as a file, and a live dry run beside it. */

import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { App, Button, Input, Segmented } from "antd";
import { useEffect, useMemo, useRef, useState } from "react";
import { api, take } from "../../api/client";
import { job, projects, templates } from "../../api/queries";
import { useWords } from "../../i18n/words";
import { useAct } from "../../parts/act";
import { Page, Panel } from "../../parts/Page";
import { Data } from "../../parts/states";
import { DryRun } from "./DryRun";
import { Fields } from "./Fields";
import { formOf, fromFile, likeJob, type TemplateForm, tidy, toCommand, toFile, type Wish } from "./wish";

const SETTLE_MS = 600;

export function Submit() {
  const { t, language } = useWords();
  const shipped = useQuery(templates());
  const forms = useMemo(
    () =>
      (shipped.data ?? [])
        .map((one) => formOf(one, language))
        .filter((form) => form.name !== "retest" && form.kind !== "service"),
    [shipped.data, language],
  );
  return (
    <Page title={t("nav.submit")}>
      <Data query={shipped}>{() => <Chosen forms={forms} />}</Data>
    </Page>
  );
}

function Chosen({ forms }: { forms: TemplateForm[] }) {
  const { t } = useWords();
  const [wish, setWish] = useWish(forms);
  const [view, setView] = useState<"form" | "file">("form");
  const form = forms.find((one) => one.name === wish.template) ?? null;
  const settled = useSettled(wish);
  const send = useSend();
  return (
    <div className="columns">
      <Panel
        title={t("submit.what")}
        extra={
          <Segmented
            size="small"
            value={view}
            onChange={setView}
            options={[
              { value: "form", label: t("submit.form") },
              { value: "file", label: t("submit.file") },
            ]}
          />
        }
      >
        {view === "form" ? (
          <Fields forms={forms} form={form} wish={wish} change={setWish} />
        ) : (
          <AsFile wish={wish} change={setWish} />
        )}
        <div className="row" style={{ marginTop: 12 }}>
          <Button type="primary" loading={send.isPending} onClick={() => send.mutate(tidy(wish) as Wish)}>
            {t("submit.send")}
          </Button>
        </div>
        <div className="quiet" style={{ marginTop: 12 }}>
          {t("state.or-run")} <code className="mono">{toCommand(wish)}</code>
        </div>
      </Panel>
      <Panel title={t("submit.then")}>
        <DryRun wish={settled} />
      </Panel>
    </div>
  );
}

/** What is being filled: from the address (a template, a job like it), else the first project and template. */
function useWish(forms: TemplateForm[]) {
  const wanted = useSearch({ from: "/submit" });
  const { project } = useSearch({ from: "__root__" });
  const all = useQuery(projects());
  const model = useQuery({ ...job(wanted.like ?? ""), enabled: wanted.like !== undefined });
  const [wish, setWish] = useState<Partial<Wish>>({ parameters: {}, resources: {}, env: {} });
  const taken = useRef("");
  useEffect(() => {
    if (!model.data || taken.current === model.data.job.id) return;
    taken.current = model.data.job.id;
    setWish(likeJob(model.data));
  }, [model.data]);
  const first = all.data?.find((one) => !one.closed_at)?.name;
  useEffect(() => {
    setWish((now) => ({
      ...now,
      project: now.project ?? project ?? first,
      template: now.template ?? wanted.template ?? forms[0]?.name,
    }));
  }, [project, first, wanted.template, forms]);
  return [wish, setWish] as const;
}

function useSettled<T>(value: T): T {
  const [settled, settle] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => settle(value), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

function useSend() {
  const { t } = useWords();
  const navigate = useNavigate();
  const { message } = App.useApp();
  const key = useRef(crypto.randomUUID());
  return useAct(
    (body: Wish) => take(api.POST("/api/v1/jobs", { body, headers: { "Idempotency-Key": key.current } })),
    (made) => {
      key.current = crypto.randomUUID();
      void message.success(t("submit.done", { job: made.id }));
      void navigate({ to: "/jobs/$job", params: { job: made.id } });
    },
  );
}

/** The same wish as the file that `headway submit` takes. */
function AsFile({ wish, change }: { wish: Partial<Wish>; change: (wish: Partial<Wish>) => void }) {
  const { t } = useWords();
  const [text, setText] = useState(() => toFile(wish));
  const [wrong, setWrong] = useState<string | null>(null);
  const typed = (next: string) => {
    setText(next);
    try {
      change(fromFile(next));
      setWrong(null);
    } catch (error) {
      setWrong(String(error instanceof Error ? error.message : error));
    }
  };
  return (
    <>
      <Input.TextArea
        className="mono"
        aria-label={t("submit.file")}
        autoSize={{ minRows: 14 }}
        value={text}
        status={wrong ? "error" : ""}
        onChange={(event) => typed(event.target.value)}
      />
      {wrong ? (
        <pre role="alert" className="bad mono">
          {wrong}
        </pre>
      ) : null}
    </>
  );
}
