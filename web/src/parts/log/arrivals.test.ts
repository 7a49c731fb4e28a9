import { expect, test } from "vitest";
import { bytesAt, density, growth, momentOf } from "./arrivals";

const SECOND = 1000;
const at = (second: number) => new Date(second * SECOND).toISOString();
const grown = growth([
  { at: at(100), offset: 0 },
  { at: at(110), offset: 1000 },
  { at: at(200), offset: 1000 },
  { at: at(201), offset: 5000 },
]);

test("a place belongs to a moment and a moment to a place", () => {
  expect(bytesAt(grown, 105 * SECOND)).toBe(500);
  expect(bytesAt(grown, 150 * SECOND)).toBe(1000);
  expect(momentOf(grown, 500)).toBe(105 * SECOND);
  expect(momentOf(grown, 3000)).toBe(200.5 * SECOND);
});

test("before its first byte a log has nothing, after its last all", () => {
  expect(bytesAt(grown, 0)).toBe(0);
  expect(bytesAt(grown, 999 * SECOND)).toBe(5000);
  expect(momentOf([], 7)).toBeNull();
});

test("a burst stands out from what was written before it", () => {
  const [slow, none, burst] = density(
    grown,
    [100, 110, 200, 201].map((second) => second * SECOND),
  );
  expect([slow, none, burst]).toEqual([100, 0, 4000]);
});
