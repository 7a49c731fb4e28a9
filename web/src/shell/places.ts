/** The seven nouns and the settings: where they are, their words, and the keys that go there. */

import type { Key } from "../i18n/words";

export interface Place {
  to: "/" | "/jobs" | "/cluster" | "/models" | "/services" | "/usage" | "/alerts" | "/settings" | "/submit";
  word: Key;
  keys: string;
}

export const NOUNS: Place[] = [
  { to: "/", word: "nav.overview", keys: "g o" },
  { to: "/jobs", word: "nav.jobs", keys: "g j" },
  { to: "/cluster", word: "nav.cluster", keys: "g c" },
  { to: "/models", word: "nav.models", keys: "g m" },
  { to: "/services", word: "nav.services", keys: "g s" },
  { to: "/usage", word: "nav.usage", keys: "g u" },
  { to: "/alerts", word: "nav.alerts", keys: "g a" },
];

export const SETTINGS: Place = { to: "/settings", word: "nav.settings", keys: "g ," };

export const PLACES: Place[] = [...NOUNS, { to: "/submit", word: "nav.submit", keys: "c" }, SETTINGS];
