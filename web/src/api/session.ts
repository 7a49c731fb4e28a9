/** The token of who is signed in, kept in this browser only. */

import { useSyncExternalStore } from "react";

const KEPT = "headway.token";
const listeners = new Set<() => void>();

export function token(): string | null {
  return localStorage.getItem(KEPT);
}

export function signIn(value: string): void {
  localStorage.setItem(KEPT, value);
  tell();
}

let ended = false;

/** Whether the last token stopped opening anything, and was not given up. */
export function hasEnded(): boolean {
  return ended;
}

export function signOut(reason: "asked" | "ended" = "asked"): void {
  ended = reason === "ended";
  localStorage.removeItem(KEPT);
  tell();
}

function tell(): void {
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  window.addEventListener("storage", listener);
  return () => {
    listeners.delete(listener);
    window.removeEventListener("storage", listener);
  };
}

export function useToken(): string | null {
  return useSyncExternalStore(subscribe, token);
}
