/** A submission as a form, as a file and as a request: one value, three views. Pure. */

import { parse, stringify } from "smol-toml";
import type { Schemas } from "../../api/client";
import type { Language } from "../../i18n/words";

export type Wish = Schemas["NewJob"];
type Scalar = string | number | boolean;

export interface Parameter {
  name: string;
  type: "string" | "integer" | "number" | "boolean" | "dataset" | "model";
  default: Scalar | null;
  minimum: number | null;
  maximum: number | null;
  choices: string[];
  help: string;
}

export interface TemplateForm {
  name: string;
  kind: string;
  description: string;
  parameters: Parameter[];
  resources: { nodes: number; devices_per_node: number };
}

const TYPES = ["string", "integer", "number", "boolean", "dataset", "model"] as const;
type Table = Record<string, unknown>;

const table = (value: unknown): Table => (typeof value === "object" && value !== null ? (value as Table) : {});
const number = (value: unknown): number | null => (typeof value === "number" ? value : null);

/** The blanks of a template as the API tells it: {name, version, content}. */
export function formOf(told: Table, language: Language): TemplateForm {
  const content = table(told.content);
  const words = (value: unknown) => String(table(value)[language] ?? table(value).en ?? "");
  const resources = table(content.resources);
  return {
    name: String(told.name),
    kind: String(content.kind ?? "training"),
    description: words(content.description),
    parameters: Object.entries(table(content.parameters)).map(([name, raw]) => parameter(name, table(raw), words)),
    resources: { nodes: number(resources.nodes) ?? 1, devices_per_node: number(resources.devices_per_node) ?? 1 },
  };
}

function parameter(name: string, raw: Table, words: (value: unknown) => string): Parameter {
  const found = raw.default;
  return {
    name,
    type: TYPES.find((one) => one === raw.type) ?? "string",
    default: typeof found === "string" || typeof found === "number" || typeof found === "boolean" ? found : null,
    minimum: number(raw.minimum),
    maximum: number(raw.maximum),
    choices: Array.isArray(raw.choices) ? raw.choices.map(String) : [],
    help: words(raw.help),
  };
}

/** A wish without what says nothing: what is sent, and what a file holds. */
export function tidy(wish: Partial<Wish>): Partial<Wish> {
  const isSaid = (value: unknown) =>
    value !== undefined &&
    value !== null &&
    value !== "" &&
    value !== false &&
    !(Array.isArray(value) && value.length === 0) &&
    !(typeof value === "object" && !Array.isArray(value) && Object.keys(value).length === 0);
  const inner = (value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined && one !== null && one !== ""))
      : value;
  const cleaned = Object.entries(wish).map(([name, value]) => [name, inner(value)] as const);
  return Object.fromEntries(cleaned.filter(([, value]) => isSaid(value))) as Partial<Wish>;
}

/** The file that `headway submit` takes. */
export function toFile(wish: Partial<Wish>): string {
  return stringify(tidy(wish));
}

/** A file's wish. Throws, saying the line, for what is no TOML. */
export function fromFile(text: string): Partial<Wish> {
  return parse(text) as Partial<Wish>;
}

/** The same in one command, quoted for a shell. */
export function toCommand(wish: Partial<Wish>): string {
  const said = tidy(wish);
  const words: string[] = ["headway", "submit"];
  for (const name of ["template", "name", "project"] as const) {
    const value = said[name];
    if (value) words.push(`--${name}`, value);
  }
  for (const [name, value] of Object.entries(said.parameters ?? {})) words.push("--set", `${name}=${value}`);
  return words.map(quoted).join(" ");
}

function quoted(word: string): string {
  return /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** A job that was, as a wish again. */
export function likeJob(view: Schemas["JobView"]): Partial<Wish> {
  const { spec } = view.job;
  const { nodes, devices_per_node, ranks_per_node, device_types } = spec.request;
  return tidy({
    name: spec.name,
    project: spec.project,
    template: spec.template.split("@")[0],
    parameters: spec.parameters,
    resources: { nodes, devices_per_node, ranks_per_node, ...(device_types?.length ? { device_types } : {}) },
    env: spec.env,
    priority: spec.priority,
    commit: spec.commit ?? undefined,
    workdir: spec.workdir ?? undefined,
  } as Partial<Wish>);
}
