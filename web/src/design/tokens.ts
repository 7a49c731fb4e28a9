/** The two themes. Charts and canvases take the same tokens as everything else. */

import { type ThemeConfig, theme } from "antd";

export const GROUND = { light: "#ffffff", dark: "#141414" } as const;
export type Scheme = keyof typeof GROUND;

export interface Ink {
  text: string;
  quiet: string;
  line: string;
  ground: string;
  raised: string;
  accent: string;
  warn: string;
  bad: string;
  good: string;
}

export const INK: Record<Scheme, Ink> = {
  light: {
    text: "#1f2329",
    quiet: "#595f69",
    line: "#e3e5e9",
    ground: "#ffffff",
    raised: "#f5f6f8",
    accent: "#1557d6",
    warn: "#9a5b00",
    bad: "#c4271b",
    good: "#1f7a3d",
  },
  dark: {
    text: "#e6e8eb",
    quiet: "#a6adb8",
    line: "#34373c",
    ground: "#141414",
    raised: "#1d1f22",
    accent: "#6ea0ff",
    warn: "#f0a63a",
    bad: "#ff8a7d",
    good: "#5cc983",
  },
};

/** Grounds of pressed things, on which white is read. */
export const FILL: Record<Scheme, string> = { light: "#1557d6", dark: "#3568d4" };

/** Ant Design's tokens of a scheme. */
export function themeOf(scheme: Scheme): ThemeConfig {
  const ink = INK[scheme];
  return {
    algorithm: [scheme === "dark" ? theme.darkAlgorithm : theme.defaultAlgorithm, theme.compactAlgorithm],
    token: {
      colorPrimary: FILL[scheme],
      colorError: ink.bad,
      colorLink: ink.accent,
      colorText: ink.text,
      colorTextSecondary: ink.quiet,
      colorTextTertiary: ink.quiet,
      colorTextDescription: ink.quiet,
      colorTextPlaceholder: ink.quiet,
      colorBgLayout: ink.ground,
      colorBorderSecondary: ink.line,
      borderRadius: 4,
      fontSize: 14,
      fontFamily: 'Inter, "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", system-ui, sans-serif',
    },
    components: {
      Layout: { headerBg: ink.raised, siderBg: ink.raised, lightSiderBg: ink.raised, bodyBg: ink.ground },
      Button: { dangerColor: scheme === "dark" ? ink.ground : "#ffffff" },
      Menu: { itemBg: ink.raised, itemSelectedColor: ink.accent },
      Segmented: { trackBg: ink.raised, itemSelectedBg: ink.line, itemSelectedColor: ink.text },
      Tabs: { itemSelectedColor: ink.accent, inkBarColor: ink.accent },
    },
  };
}

/** WCAG 2 contrast of two colours written #rrggbb. */
export function contrast(one: string, other: string): number {
  const [high = 0, low = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (high + 0.05) / (low + 0.05);
}

function luminance(colour: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** One hue by lightness for a share of 0 to 1: no red to green. */
export function heat(share: number, scheme: Scheme): string {
  const part = Math.min(1, Math.max(0, share));
  const light = scheme === "dark" ? 18 + part * 52 : 94 - part * 54;
  return `hsl(217 ${55 + part * 25}% ${light}%)`;
}
