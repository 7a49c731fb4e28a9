/** What Headway said in a sentence of its own: kept in English, read back by the sentences that made it. Pure. */

import type { Key, Say } from "./words";
import enWords from "./words.en.json";

const BETWEEN = "; ";
const SHAPES: Record<string, string> = { mount: "/.*", path: "/.*", line: "\\d+" };
const PREFIX = "said.";

/** One saying or several in the reader's language; what no saying made, as a program's own line, stays as it is. */
export function retold(kept: string, t: Say): string {
  const whole = one(kept, t);
  if (whole !== null || !kept.includes(BETWEEN)) return whole ?? kept;
  const [first = "", ...rest] = kept.split(BETWEEN);
  return rest.reduce((told, part) => {
    const found = one(part, t);
    return found === null ? `${told}${BETWEEN}${part}` : `${told}${t("list.between")}${found}`;
  }, one(first, t) ?? first);
}

function one(kept: string, t: Say): string | null {
  for (const [key, pattern] of patterns()) {
    const found = pattern.exec(kept);
    if (found) return t(key, { ...found.groups });
  }
  return null;
}

let made: [Key, RegExp][] | null = null;

/** The closer before the wider. */
function patterns(): [Key, RegExp][] {
  made ??= Object.entries(enWords)
    .filter(([key]) => key.startsWith(PREFIX))
    .sort(([, a], [, b]) => literal(b) - literal(a))
    .map(([key, text]) => [key as Key, new RegExp(`^${shape(text)}$`, "s")]);
  return made;
}

const literal = (text: string) => text.replace(/\{\w+\}/g, "").length;

const shape = (text: string) =>
  text
    .split(/\{(\w+)\}/)
    .map((part, at) => (at % 2 ? `(?<${part}>${SHAPES[part] ?? ".+"})` : part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")))
    .join("");
