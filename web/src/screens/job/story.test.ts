import { describe, expect, test } from "vitest";
import { say } from "../../i18n/words";
import { type Fact, idleSpans, nodeRows, rates, runsOf, sentence, stretches } from "./story";

const at = (second: number) => new Date(Date.UTC(2026, 10, 3, 8, 0, second)).toISOString();
const fact = (kind: string, second: number, data: Record<string, unknown> = {}): Fact => ({
  seq: second,
  kind,
  at: at(second),
  by: "server",
  data,
});
const ms = (second: number) => Date.parse(at(second));

describe("how it stood", () => {
  const facts = [
    fact("job-submitted", 0),
    fact("attempt-placed", 10),
    fact("attempt-started", 12),
    fact("stalled", 40, { since: at(30) }),
    fact("moving", 45),
    fact("attempt-ended", 50),
  ];

  test("a stall begins when it began, not when it was noticed", () => {
    const found = stretches(facts, ms(60));
    expect(found.map((one) => one.status)).toEqual([
      "queued",
      "starting",
      "running",
      "stalled",
      "running",
      "recovering",
    ]);
    expect(found[3]).toMatchObject({ from: ms(30), to: ms(45) });
    expect(found[5]?.to).toBe(ms(60));
  });

  test("it ends with the job", () => {
    const found = stretches([...facts, fact("job-ended", 55)], ms(600));
    expect(found[found.length - 1]?.to).toBe(ms(55));
  });

  test("the time without devices may be folded", () => {
    expect(idleSpans(stretches(facts, ms(60))).map((one) => one.from)).toEqual([ms(0), ms(50)]);
  });
});

test("the rate of a restart at a lower step is no negative number", () => {
  const found = rates([
    { at: 0, value: 10 },
    { at: 1000, value: 12 },
    { at: 2000, value: 5 },
  ]);
  expect(found.map((one) => one.value)).toEqual([2, 0]);
});

describe("a row per node", () => {
  const grid = (second: number, nodes: Record<string, (number | null)[]>) => ({
    name: "device_utilisation_percent",
    at: [at(second), at(second + 1)],
    nodes: Object.entries(nodes).map(([node, means]) => ({ node, means })),
  });

  test("the node that differs stands apart from its like", () => {
    const rows = nodeRows([grid(0, { n1: [95, 95], n2: [95, 95], n3: [2, 2], n4: [95, 95] })], null);
    expect(rows.filter((row) => row.stands).map((row) => row.node)).toEqual(["n3"]);
    expect(rows[0]?.node).toBe("n3");
  });

  test("goes on over attempts, and what was not measured is no point", () => {
    const rows = nodeRows([grid(0, { n1: [90, null] }), grid(10, { n1: [null, 80], n2: [70, 70] })], null);
    expect(rows.map((row) => row.node)).toEqual(["n1", "n2"]);
    expect(rows[0]?.points).toEqual([
      { at: ms(0), value: 90 },
      { at: ms(11), value: 80 },
    ]);
  });
});

test("how it ended is told in the reader's language", () => {
  const ended = fact("job-ended", 1, { state: "failed" });
  expect(sentence(ended, (key, blanks) => say("zh", key, blanks))).toBe("作业结束：失败");
  const tried = fact("attempt-ended", 1, { attempt: "j-1.1", outcome: "lost" });
  expect(sentence(tried, (key, blanks) => say("zh", key, blanks))).toBe("尝试 j-1.1 结束：失联");
});

test("each attempt is a line of its own, from its main process, in the order they ran", () => {
  const point = (second: number, mean: number) => ({ at: at(second), minimum: mean, maximum: mean, mean, count: 1 });
  const of = (attempt: string, rank: number, ...points: ReturnType<typeof point>[]) => ({
    ...{ attempt, node: "n1", rank, device: null, name: "step", points },
  });
  const found = runsOf([
    of("j-1.2", 0, point(9, 6)),
    of("j-1.1", 1, point(1, 0)),
    of("j-1.1", 0, point(1, 1), point(5, 8)),
  ]);
  expect(found.map((run) => run.map((one) => one.value))).toEqual([[1, 8], [6]]);
});

test("causes, reasons and phases are told in the reader's language, what a person wrote as it is", () => {
  const told = (kind: string, data: Record<string, unknown>) =>
    sentence(fact(kind, 1, data), (key, blanks) => say("zh", key, blanks));
  expect(told("stall-explained", { cause: "COMM_TIMEOUT" })).not.toContain("COMM");
  expect(told("stalled", { phase: "train" })).not.toContain("train");
  expect(told("launch-failed", { reason: "mount is gone" })).toContain("mount is gone");
});
