/** A rule is one sentence with blanks: what, above or below what, for how long, where; and how often it would have fired. */

import { useQuery } from "@tanstack/react-query";
import { AutoComplete, Button, Form, Input, InputNumber, Modal, Select } from "antd";
import { useState } from "react";
import { api, type Schemas, take } from "../../api/client";
import { alertRules, channels, projects } from "../../api/queries";
import { type Language, listed, type Say, useWords } from "../../i18n/words";
import { useAct } from "../../parts/act";
import { METRICS } from "../../parts/chart/metrics";
import { useMay } from "../../parts/may";
import { Remove } from "../../parts/Remove";
import { Simple } from "../../parts/Simple";
import { Data, Nothing } from "../../parts/states";
import { duration, isoSeconds } from "../../time/durations";
import { now } from "../../time/now";
import { factOf, GAUGES, watchedName, watchedValue } from "./watched";

type Rule = Schemas["AlertRule"];
const DAY_MS = 86_400_000;

/** A rule as its sentence. */
export function sentenceOf(rule: Rule, t: Say, language: Language): string {
  const watches = watchedName(rule.watches, t);
  if (factOf(rule.watches)) return t("rules.fact", { fact: watches });
  const seconds = isoSeconds(rule.lasting ?? "PT0S") ?? 0;
  const lasting = seconds > 0 ? t("rules.lasting", { lasting: duration(seconds, language) }) : "";
  if (rule.watches === "node-down") return `${watches}${lasting}`;
  const threshold = watchedValue(rule.watches, rule.threshold ?? 0, language);
  return `${t(rule.comparison === "below" ? "rules.below" : "rules.above", { watches, threshold })}${lasting}`;
}

export function Rules() {
  const { t, language } = useWords();
  const { operate } = useMay();
  const [asking, ask] = useState(false);
  const found = useQuery(alertRules());
  return (
    <div className="stack">
      {operate ? (
        <div>
          <Button onClick={() => ask(true)}>{t("rules.add")}</Button>
        </div>
      ) : null}
      <Data query={found}>
        {(all) =>
          all.length === 0 ? (
            <Nothing command="headway alert rule">{t("rules.none")}</Nothing>
          ) : (
            <Simple
              rows={all.map((rule) => ({
                key: rule.name,
                name: rule.name,
                sentence: sentenceOf(rule, t, language),
                where:
                  Object.values(rule.scope ?? {})
                    .filter(Boolean)
                    .join(" · ") || t("rules.everywhere"),
                who: listed(rule.recipients ?? [], language) || "—",
                act: operate ? <RuleActions rule={rule} /> : "",
              }))}
              columns={[
                ["name", t("alerts.rule")],
                ["sentence", t("rules.sentence")],
                ["where", t("rules.where")],
                ["who", t("rules.who")],
                ["act", ""],
              ]}
            />
          )
        }
      </Data>
      <Asking shown={asking} hide={() => ask(false)} />
    </div>
  );
}

function RuleActions({ rule }: { rule: Rule }) {
  const { t } = useWords();
  const path = { name: rule.name };
  const isMuted = rule.muted_until != null && Date.parse(rule.muted_until) > now();
  const mute = useAct(() =>
    take(
      api.POST("/api/v1/alert-rules/{name}/mute", {
        params: { path },
        body: { until: isMuted ? null : new Date(now() + DAY_MS).toISOString() },
      }),
    ),
  );
  const remove = useAct(() => take(api.DELETE("/api/v1/alert-rules/{name}", { params: { path } })));
  return (
    <span className="row">
      <Button size="small" onClick={() => mute.mutate(undefined)}>
        {t(isMuted ? "rules.unmute" : "rules.mute")}
      </Button>
      <Remove lost={t("rules.remove-text")} onConfirm={() => remove.mutate(undefined)} />
    </span>
  );
}

interface Filled {
  name: string;
  watches: string;
  side: "above" | "below";
  threshold: number;
  minutes: number;
  project?: string;
  recipients?: string[];
}

/** Only what is said is sent: a fact has no threshold. */
export function bodyOf({
  watches,
  side,
  threshold,
  minutes,
  project,
  recipients = [],
}: Filled): Schemas["NewAlertRule"] {
  const where = project ? { project } : {};
  if (watches.startsWith("fact:")) return { watches, for_s: 0, recipients, ...where };
  return { watches, [side]: threshold, for_s: (minutes ?? 0) * 60, recipients, ...where };
}

function Asking({ shown, hide }: { shown: boolean; hide: () => void }) {
  const { t } = useWords();
  const [form] = Form.useForm<Filled>();
  const names = useQuery(projects());
  const ways = useQuery(channels());
  const [fired, setFired] = useState<string | null>(null);
  const act = useAct(
    (filled: Filled) =>
      take(api.PUT("/api/v1/alert-rules/{name}", { params: { path: { name: filled.name } }, body: bodyOf(filled) })),
    hide,
  );
  const rehearse = useAct(
    (filled: Filled) => take(api.POST("/api/v1/alert-rules/rehearsal", { body: bodyOf(filled) })),
    (told) =>
      setFired(
        told.fired_last_week === null ? t("rules.no-history") : t("rules.would", { count: told.fired_last_week }),
      ),
  );
  const required = [{ required: true, message: t("form.required") }];
  const watches = [
    ...GAUGES,
    ...METRICS.map((name) => `reading:${name}`),
    "fact:stalled",
    "fact:attempt-ended",
    "fact:agent-lost",
  ];
  return (
    <Modal
      open={shown}
      onCancel={hide}
      title={t("rules.add")}
      okText={t("rules.set")}
      cancelText={t("action.cancel")}
      okButtonProps={{ loading: act.isPending }}
      onOk={() => form.submit()}
    >
      <Form form={form} layout="vertical" onFinish={act.mutate} initialValues={{ side: "above", minutes: 5 }}>
        <Form.Item name="name" label={t("alerts.rule")} rules={required}>
          <Input />
        </Form.Item>
        <Form.Item name="watches" label={t("rules.watches")} extra={t("rules.watches-help")} rules={required}>
          <AutoComplete options={watches.map((value) => ({ value, label: `${watchedName(value, t)} · ${value}` }))} />
        </Form.Item>
        <div className="row">
          <Form.Item name="side" label={t("rules.side")}>
            <Select
              style={{ width: 120 }}
              options={[
                { value: "above", label: t("rules.is-above") },
                { value: "below", label: t("rules.is-below") },
              ]}
            />
          </Form.Item>
          <Form.Item name="threshold" label={t("rules.threshold")}>
            <InputNumber />
          </Form.Item>
          <Form.Item name="minutes" label={t("rules.minutes")}>
            <InputNumber min={0} />
          </Form.Item>
        </div>
        <Form.Item name="project" label={t("rules.where")}>
          <Select
            allowClear
            placeholder={t("rules.everywhere")}
            options={(names.data ?? []).map(({ name }) => ({ value: name }))}
          />
        </Form.Item>
        <Form.Item name="recipients" label={t("rules.who")}>
          <Select
            mode="multiple"
            placeholder={t("rules.nobody")}
            options={(ways.data ?? []).filter((way) => !way.personal).map(({ name }) => ({ value: name }))}
          />
        </Form.Item>
        <Button
          size="small"
          loading={rehearse.isPending}
          onClick={() => void form.validateFields().then((filled) => rehearse.mutate(filled))}
        >
          {t("rules.rehearse")}
        </Button>
        {fired ? <span role="status"> {fired}</span> : null}
      </Form>
    </Modal>
  );
}
