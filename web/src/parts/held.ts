/** Rows that stand still while a pointer is over them: what is new waits until it is asked for, what changed is shown in place. */

import { useReducer, useRef } from "react";

export interface Held<T> {
  rows: T[];
  waiting: number;
  release: () => void;
}

/** The order seen before, with today's contents; how many rows are new or moved. */
export function hold<T>(before: string[], fresh: T[], key: (row: T) => string): { rows: T[]; waiting: number } {
  const now = new Map(fresh.map((row) => [key(row), row]));
  const seen = new Set(before);
  const rows = before.flatMap((id) => now.get(id) ?? []);
  const isGrown = fresh.slice(0, rows.length).every((row) => seen.has(key(row)));
  const later = isGrown ? fresh.filter((row) => !seen.has(key(row))) : [];
  const waiting = fresh.length - rows.length - later.length;
  return { rows: [...rows, ...later], waiting };
}

export function useHeld<T>(fresh: T[], still: boolean, key: (row: T) => string): Held<T> {
  const order = useRef<string[]>([]);
  const [, again] = useReducer((times: number) => times + 1, 0);
  const holding = still && order.current.length > 0;
  const { rows, waiting } = holding ? hold(order.current, fresh, key) : { rows: fresh, waiting: 0 };
  if (waiting === 0) order.current = rows.map(key);
  return {
    rows,
    waiting,
    release: () => {
      order.current = [];
      again();
    },
  };
}
