import { expect, test } from "vitest";
import { fixed } from "./share";

const NOW = Date.UTC(2026, 10, 3, 8);

test("the last hours become a stretch between two moments, and one that was chosen stays", () => {
  const stretch = { from: "2026-11-03T05:00:00.000Z", to: "2026-11-03T08:00:00.000Z" };
  expect(fixed("/nodes/n1", { hours: 3, metric: "cpu_percent" }, NOW)).toEqual({ metric: "cpu_percent", ...stretch });
  expect(fixed("/nodes/n1", {}, NOW)).toMatchObject({ from: "2026-11-03T02:00:00.000Z" });
  expect(fixed("/cluster", { view: "readings", hours: 3 }, NOW)).toEqual({ view: "readings", ...stretch });
  expect(fixed("/nodes/n1", { ...stretch }, NOW + 1000)).toEqual(stretch);
});

test("a job is told with the moment, a month by its name, what tells no time as it is", () => {
  expect(fixed("/jobs/j-1", { rank: 3 }, NOW)).toEqual({ rank: 3, t: "2026-11-03T08:00:00.000Z" });
  expect(fixed("/jobs/j-1", { offset: 7 }, NOW)).toEqual({ offset: 7 });
  expect(fixed("/usage", { tab: "report" }, NOW)).toEqual({ tab: "report", month: "2026-11" });
  expect(fixed("/jobs", { text: "llm" }, NOW)).toEqual({ text: "llm" });
});
