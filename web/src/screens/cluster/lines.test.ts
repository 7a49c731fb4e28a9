import { expect, test } from "vitest";
import type { Schemas } from "../../api/client";
import { linesOf, MOST_LINES } from "./lines";

const at = "2026-12-01T00:00:00Z";
const series = (node: string, device: number, mean: number) =>
  ({ node, device, points: [{ at, mean }] }) as unknown as Schemas["Series"];

test("a few cards have a line each", () => {
  expect(linesOf([series("h01", 0, 5)])).toEqual([{ name: "h01 · 0", points: [[Date.parse(at), 5]] }]);
});

test("where cards are many, a node has one line: their mean", () => {
  const many = Array.from({ length: MOST_LINES + 1 }, (_, card) => series("h01", card, card));
  expect(linesOf(many)).toEqual([{ name: "h01", points: [[Date.parse(at), MOST_LINES / 2]] }]);
});
