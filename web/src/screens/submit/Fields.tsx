/** The form of a submission: a few blanks, the rest folded. */

import { useQuery } from "@tanstack/react-query";
import { Collapse, Form, Input, InputNumber, Select, Switch } from "antd";
import type { ReactNode } from "react";
import { datasets, models, nodes, projects } from "../../api/queries";
import { useWords } from "../../i18n/words";
import type { Parameter, TemplateForm, Wish } from "./wish";

interface Props {
  forms: TemplateForm[];
  form: TemplateForm | null;
  wish: Partial<Wish>;
  change: (wish: Partial<Wish>) => void;
}

const PRIORITIES = ["urgent", "high", "normal", "low", "idle"] as const;

export function Fields({ forms, form, wish, change }: Props) {
  const { t } = useWords();
  const all = useQuery(projects());
  const set = (part: Partial<Wish>) => change({ ...wish, ...part });
  return (
    <Form layout="vertical" component="div">
      <Field label={t("submit.template")} help={form?.description}>
        <Select
          aria-label={t("submit.template")}
          value={wish.template}
          onChange={(template) => set({ template, parameters: {}, resources: {} })}
          options={forms.map(({ name }) => ({ value: name, label: name }))}
        />
      </Field>
      <Field label={t("submit.name")}>
        <Input
          aria-label={t("submit.name")}
          value={wish.name}
          onChange={(event) => set({ name: event.target.value })}
        />
      </Field>
      <Field label={t("jobs.project")}>
        <Select
          aria-label={t("jobs.project")}
          showSearch
          value={wish.project}
          onChange={(project) => set({ project })}
          options={(all.data ?? []).filter((one) => !one.closed_at).map(({ name }) => ({ value: name, label: name }))}
        />
      </Field>
      {form?.parameters.map((one) => (
        <ParameterField key={one.name} parameter={one} wish={wish} set={set} />
      ))}
      <Scale form={form} wish={wish} set={set} />
      <Collapse ghost items={[{ key: "more", label: t("submit.more"), children: <More wish={wish} set={set} /> }]} />
    </Form>
  );
}

function Field({
  label,
  help,
  children,
  required,
}: {
  label: string;
  help?: ReactNode;
  children: ReactNode;
  required?: boolean;
}) {
  return (
    <Form.Item label={label} extra={help} required={required ?? false} style={{ marginBottom: 12 }}>
      {children}
    </Form.Item>
  );
}

interface Part {
  wish: Partial<Wish>;
  set: (part: Partial<Wish>) => void;
}

/** A blank of the template; a data or model version is chosen from what is registered. */
function ParameterField({ parameter, wish, set }: { parameter: Parameter } & Part) {
  const given = wish.parameters?.[parameter.name];
  const put = (value: string | number | boolean | null | undefined) => {
    const rest = { ...wish.parameters };
    if (value === null || value === undefined || value === "") delete rest[parameter.name];
    else rest[parameter.name] = value;
    set({ parameters: rest });
  };
  return (
    <Field label={parameter.name} help={parameter.help} required={parameter.default === null}>
      <Blank parameter={parameter} given={given} put={put} />
    </Field>
  );
}

type Given = string | number | boolean | undefined;

interface BlankProps {
  parameter: Parameter;
  given: Given;
  put: (value: Given | null) => void;
}

function Blank({ parameter, given, put }: BlankProps) {
  const label = parameter.name;
  const { type } = parameter;
  const shown = parameter.default === null ? "" : String(parameter.default);
  if (parameter.choices.length > 0)
    return (
      <Select
        aria-label={label}
        allowClear
        placeholder={shown}
        value={given as string | undefined}
        onChange={put}
        options={parameter.choices.map((value) => ({ value, label: value }))}
      />
    );
  if (type === "boolean")
    return <Switch aria-label={label} checked={(given ?? parameter.default) === true} onChange={put} />;
  if (type === "integer" || type === "number") return <NumberBlank parameter={parameter} given={given} put={put} />;
  if (type === "dataset" || type === "model") return <Version kind={type} label={label} given={given} put={put} />;
  return (
    <Input
      aria-label={label}
      placeholder={shown}
      value={String(given ?? "")}
      onChange={(event) => put(event.target.value)}
    />
  );
}

function NumberBlank({ parameter, given, put }: BlankProps) {
  return (
    <InputNumber
      aria-label={parameter.name}
      style={{ width: "100%" }}
      placeholder={String(parameter.default ?? "")}
      value={given === undefined ? null : Number(given)}
      {...(parameter.minimum === null ? {} : { min: parameter.minimum })}
      {...(parameter.maximum === null ? {} : { max: parameter.maximum })}
      {...(parameter.type === "integer" ? { precision: 0 } : {})}
      onChange={put}
    />
  );
}

interface VersionProps {
  kind: "dataset" | "model";
  label: string;
  given: Given;
  put: (value: Given) => void;
}

function Version({ kind, label, given, put }: VersionProps) {
  const { t } = useWords();
  const sets = useQuery({ ...datasets(), enabled: kind === "dataset" });
  const weights = useQuery({ ...models(), enabled: kind === "model" });
  const found = (kind === "dataset" ? sets.data : weights.data) ?? [];
  return (
    <Select
      aria-label={label}
      showSearch
      allowClear
      value={given as string | undefined}
      onChange={put}
      notFoundContent={t("submit.no-versions")}
      options={found.map(({ name, number }) => ({ value: `${name}@${number}`, label: `${name}@${number}` }))}
    />
  );
}

/** Nodes, cards per node and their type. */
function Scale({ form, wish, set }: { form: TemplateForm | null } & Part) {
  const { t } = useWords();
  const machines = useQuery(nodes());
  const types = [...new Set((machines.data ?? []).map(({ node }) => node.device_type))].sort();
  const resources = (wish.resources ?? {}) as Record<string, number | string[] | undefined>;
  const put = (name: string, value: number | string[] | null) =>
    set({ resources: { ...resources, [name]: value ?? undefined } });
  const count = (name: "nodes" | "devices_per_node") => (
    <InputNumber
      aria-label={t(`submit.${name}`)}
      min={1}
      precision={0}
      placeholder={String(form?.resources[name] ?? 1)}
      value={typeof resources[name] === "number" ? resources[name] : null}
      onChange={(value) => put(name, value)}
    />
  );
  return (
    <div className="row" style={{ alignItems: "flex-start" }}>
      <Field label={t("submit.nodes")}>{count("nodes")}</Field>
      <Field label={t("submit.devices_per_node")}>{count("devices_per_node")}</Field>
      <Field label={t("jobs.type")}>
        <Select
          mode="multiple"
          style={{ minWidth: 180 }}
          aria-label={t("jobs.type")}
          placeholder={t("submit.any-type")}
          value={Array.isArray(resources.device_types) ? resources.device_types : []}
          onChange={(value) => put("device_types", value.length ? value : null)}
          options={types.map((value) => ({ value, label: value }))}
        />
      </Field>
    </div>
  );
}

/** What most leave as it is. */
function More({ wish, set }: Part) {
  const { t } = useWords();
  return (
    <>
      <Field label={t("submit.priority")}>
        <Select
          aria-label={t("submit.priority")}
          value={wish.priority ?? "normal"}
          onChange={(priority) => set({ priority })}
          options={PRIORITIES.map((value) => ({ value, label: t(`priority.${value}`) }))}
        />
      </Field>
      <Field label={t("submit.limit")} help={t("submit.limit-help")}>
        <InputNumber
          aria-label={t("submit.limit")}
          min={0.1}
          suffix={t("unit.hours")}
          value={wish.limit_s ? wish.limit_s / 3600 : null}
          onChange={(hours) => set({ limit_s: hours ? hours * 3600 : undefined })}
        />
      </Field>
      <Field label={t("submit.workdir")}>
        <Input
          aria-label={t("submit.workdir")}
          value={wish.workdir ?? ""}
          onChange={(event) => set({ workdir: event.target.value || undefined })}
        />
      </Field>
      <Field label={t("submit.source")} help={t("submit.source-help")}>
        <Input
          aria-label={t("submit.source")}
          value={wish.source ?? ""}
          onChange={(event) => set({ source: event.target.value || undefined })}
        />
      </Field>
      <Field label={t("submit.protected")} help={t("submit.protected-help")}>
        <Switch
          aria-label={t("submit.protected")}
          checked={wish.protected ?? false}
          onChange={(value) => set({ protected: value })}
        />
      </Field>
    </>
  );
}
