/** Light or dark: the system's, unless chosen here. */

import { createContext, type ReactNode, useContext, useEffect, useState } from "react";
import { INK, type Ink, type Scheme } from "./tokens";

export type Wish = Scheme | "system";
const KEPT = "headway.scheme";

interface Chosen {
  scheme: Scheme;
  ink: Ink;
  wish: Wish;
  choose: (wish: Wish) => void;
}

const Context = createContext<Chosen>({ scheme: "light", ink: INK.light, wish: "system", choose: () => {} });

export function SchemeProvider({ children }: { children: ReactNode }) {
  const [wish, setWish] = useState<Wish>(kept);
  const system = useSystemScheme();
  const scheme = wish === "system" ? system : wish;
  const ink = INK[scheme];
  useEffect(() => {
    const root = document.documentElement;
    root.style.colorScheme = scheme;
    for (const [name, colour] of Object.entries(ink)) root.style.setProperty(`--${name}`, colour);
  }, [scheme, ink]);
  const choose = (next: Wish) => {
    localStorage.setItem(KEPT, next);
    setWish(next);
  };
  return <Context.Provider value={{ scheme, ink, wish, choose }}>{children}</Context.Provider>;
}

export function useScheme(): Chosen {
  return useContext(Context);
}

function kept(): Wish {
  const told = localStorage.getItem(KEPT);
  return told === "light" || told === "dark" ? told : "system";
}

function useSystemScheme(): Scheme {
  const [dark, setDark] = useState(() => window.matchMedia?.("(prefers-color-scheme: dark)").matches ?? false);
  useEffect(() => {
    const asked = window.matchMedia?.("(prefers-color-scheme: dark)");
    if (!asked) return;
    const changed = () => setDark(asked.matches);
    asked.addEventListener("change", changed);
    return () => asked.removeEventListener("change", changed);
  }, []);
  return dark ? "dark" : "light";
}
