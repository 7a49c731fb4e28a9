import { expect, test } from "vitest";
import { STATUS } from "./status";
import { contrast, FILL, GROUND, INK } from "./tokens";

test.each(Object.entries(STATUS))("the colour of %s is read on both grounds", (_, look) => {
  expect(contrast(look.light, GROUND.light)).toBeGreaterThanOrEqual(4.5);
  expect(contrast(look.dark, GROUND.dark)).toBeGreaterThanOrEqual(4.5);
});

test("no two states share an icon", () => {
  const icons = Object.values(STATUS).map((look) => look.icon);
  expect(new Set(icons).size).toBe(icons.length);
});

test.each(["light", "dark"] as const)("text of the %s theme is read on its grounds", (scheme) => {
  const ink = INK[scheme];
  expect(contrast("#ffffff", FILL[scheme])).toBeGreaterThanOrEqual(4.5);
  for (const colour of [ink.text, ink.quiet, ink.accent, ink.warn, ink.bad, ink.good])
    for (const ground of [ink.ground, ink.raised]) expect(contrast(colour, ground)).toBeGreaterThanOrEqual(4.5);
});
