/** What facts hold, in words: who recorded one, what it is called, what it says. Pure. */

import { known, type Say } from "../i18n/words";

/** A person by name; Headway itself, its daemons and its agents in words. */
export function whoOf(by: string | null | undefined, t: Say): string {
  if (!by) return "—";
  const [role, name] = by.split(":");
  const key = known(`by.${role}`);
  return key && (name !== undefined || role === "server") ? t(key, { name: name ?? "" }) : by;
}

/** What a kind of fact is called; one that is newer than the console by its code. */
export function factName(kind: string, t: Say): string {
  const key = known(`kind.${kind}`);
  return key ? t(key) : kind;
}

/** Its values as `name=value`, those that say nothing left out. */
export function pairs(data: Record<string, unknown>): string {
  const said = Object.entries(data).filter(([, value]) => value !== null);
  return said.map(([name, value]) => `${name}=${typeof value === "object" ? JSON.stringify(value) : value}`).join(" ");
}
