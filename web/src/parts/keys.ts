/** Keys of the whole console: off inside fields and while an input method composes, for Chinese users type `j` all day. */

import { useEffect, useRef } from "react";

const TOGETHER_MS = 1000;

/** Whether a key is meant for the console and not for a field. */
export function isFree(event: KeyboardEvent): boolean {
  if (event.isComposing || event.keyCode === 229 || event.defaultPrevented) return false;
  const at = event.target as HTMLElement | null;
  if (!at) return true;
  return !(at.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(at.tagName) || at.closest?.('[role="dialog"]'));
}

interface Pressed {
  key: string;
  at: number;
}

/** Names under which a key may stand in a table: "mod+k"; "g j" for two in a row; "/" alone. */
export function namesOf(event: KeyboardEvent, before: Pressed): string[] {
  if (event.isComposing || event.keyCode === 229) return [];
  const key = event.key.toLowerCase();
  if (event.metaKey || event.ctrlKey) return [`mod+${key}`];
  if (event.altKey || !isFree(event)) return [];
  const isPair = event.timeStamp - before.at < TOGETHER_MS;
  return isPair ? [`${before.key} ${key}`, event.key] : [event.key];
}

/** Acts on keys by name while the component lives. */
export function useKeys(table: Record<string, () => void>): void {
  const kept = useRef(table);
  kept.current = table;
  useEffect(() => {
    let before: Pressed = { key: "", at: 0 };
    const pressed = (event: KeyboardEvent) => {
      const names = namesOf(event, before);
      before = { key: event.key.toLowerCase(), at: event.timeStamp };
      const found = names.find((name) => name in kept.current);
      if (!found) return;
      event.preventDefault();
      kept.current[found]?.();
    };
    window.addEventListener("keydown", pressed);
    return () => window.removeEventListener("keydown", pressed);
  }, []);
}
