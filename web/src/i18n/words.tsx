/** Words of the console: whole sentences with blanks, one table per language, the same keys in both. */

import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from "react";
import en from "./en.json";
import { retold } from "./sayings";
import enWords from "./words.en.json";
import zhWords from "./words.zh.json";
import zh from "./zh.json";

export type Language = "zh" | "en";
export type Key = keyof typeof zh | keyof typeof zhWords;
export type Blanks = Record<string, string | number>;
export type Say = (key: Key, blanks?: Blanks) => string;

const TABLES: Record<Language, Record<Key, string>> = {
  zh: { ...zhWords, ...zh },
  en: { ...enWords, ...en },
};
const KEPT = "headway.language";

/** `{count}`, or with the word it counts, `{count|node|nodes}`. */
const BLANK = /\{(\w+)(?:\|([^|}]*)\|([^}]*))?\}/g;
const FIGURES: Record<Language, Intl.NumberFormat> = {
  zh: new Intl.NumberFormat("zh-CN", { maximumFractionDigits: 3 }),
  en: new Intl.NumberFormat("en", { maximumFractionDigits: 3 }),
};
/** Stands at both ends of what was filled in until the sentence is whole. */
const EDGE = "\u2063";
const HAN = "[\\u4e00-\\u9fff\\u3000-\\u303f\\uff00-\\uffef]";
const GAPS = new RegExp(`(?<=${HAN}) ${EDGE}(?=${HAN})|(?<=${HAN})${EDGE} (?=${EDGE}?${HAN})`, "g");

/** A sentence with its blanks filled: numbers as the language writes them, no space between two Chinese characters. */
export function say(language: Language, key: Key, blanks: Blanks = {}): string {
  const filled = TABLES[language][key].replace(BLANK, (whole, name: string, one?: string, many?: string) => {
    const value = blanks[name];
    if (value === undefined) return whole;
    const shown = typeof value === "number" ? FIGURES[language].format(value) : value;
    return EDGE + (one === undefined ? shown : `${shown} ${Number(value) === 1 ? one : many}`) + EDGE;
  });
  return filled.replace(GAPS, "").replaceAll(EDGE, "");
}

/** Several, one after the other: `a、b` or `a, b`. */
export function listed(values: string[], language: Language): string {
  return values.join(language === "zh" ? "、" : ", ");
}

/** The key itself where the table has it, else null: for codes of the server that are newer than the console. */
export function known(key: string): Key | null {
  return key in TABLES.zh ? (key as Key) : null;
}

/** The server's word for a value of a closed list (`why.time-limit`), or its sentence; the value itself where there is none. */
export function told(families: string[], value: string, t: Say): string {
  const slug = value.toLowerCase().replace(/[ _]/g, "-");
  const key = families.map((family) => known(`${family}.${slug}`)).find((found) => found !== null);
  return key ? t(key) : retold(value, t);
}

interface Words {
  language: Language;
  setLanguage: (language: Language) => void;
  t: Say;
}

const Context = createContext<Words | null>(null);

/** The language chosen here before, else the browser's. */
export function firstLanguage(): Language {
  const kept = localStorage.getItem(KEPT);
  if (kept === "zh" || kept === "en") return kept;
  return navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en";
}

export function WordsProvider({ children }: { children: ReactNode }) {
  const [language, choose] = useState<Language>(firstLanguage);
  useEffect(() => {
    document.documentElement.lang = language === "zh" ? "zh-CN" : "en";
    localStorage.setItem(KEPT, language);
  }, [language]);
  const words = useMemo<Words>(
    () => ({ language, setLanguage: choose, t: (key, blanks) => say(language, key, blanks) }),
    [language],
  );
  return <Context.Provider value={words}>{children}</Context.Provider>;
}

export function useWords(): Words {
  const words = useContext(Context);
  if (!words) throw new Error("WordsProvider is missing");
  return words;
}
