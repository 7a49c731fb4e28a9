import { expect, test } from "vitest";
import { grown } from "./Shift";

const sum = (shares: Record<string, number>) => Object.values(shares).reduce((total, share) => total + share, 0);

test("a version grows at the cost of the others, and together they stay 100", () => {
  expect(grown({ "m@1": 100, "m@2": 0 }, "m@2", 25)).toEqual({ "m@1": 75, "m@2": 25 });
  for (const percent of [0, 5, 33, 50, 99, 100]) expect(sum(grown({ a: 34, b: 33, c: 33 }, "c", percent))).toBe(100);
});

test("a version alone has everything", () => {
  expect(grown({ "m@1": 100 }, "m@1", 5)).toEqual({ "m@1": 100 });
});
