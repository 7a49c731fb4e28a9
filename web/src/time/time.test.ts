import { describe, expect, test } from "vitest";
import { makeAxis } from "./axis";
import { duration, isoSeconds, moment, shortMoment, span } from "./durations";
import { ticks } from "./ticks";

describe("durations", () => {
  test("two units at most, in the reader's language", () => {
    expect(duration(3 * 86400 + 4 * 3600 + 59, "zh")).toBe("3 天 4 小时");
    expect(duration(3 * 86400 + 4 * 3600 + 59, "en")).toBe("3d 4h");
    expect(duration(0.4, "en")).toBe("0s");
    expect(duration(86400 + 5, "en")).toBe("1d");
  });

  test("the server's timedeltas are read", () => {
    expect(isoSeconds("P1DT2H3M4.5S")).toBe(93784.5);
    expect(isoSeconds("PT0S")).toBe(0);
    expect(isoSeconds("-PT30S")).toBe(-30);
    expect(isoSeconds("ten minutes")).toBeNull();
  });

  test("a moment shows its offset and what is none is a dash", () => {
    expect(moment("2026-12-01T03:12:07Z")).toMatch(/^2026-1[12]-\d\d \d\d:\d\d:\d\d [+-]\d\d:\d\d$/);
    expect(moment("yesterday")).toBe("—");
  });
});

describe("the axis", () => {
  const axis = makeAxis({ from: 0, to: 1000 }, [{ from: 100, to: 900 }]);

  test("a long gap takes a narrow band", () => {
    expect(axis.place(900) - axis.place(100)).toBeCloseTo(0.04);
    expect(axis.place(0)).toBe(0);
    expect(axis.place(1000)).toBeCloseTo(1);
  });

  test("places and moments are each other's inverse", () => {
    for (const at of [0, 50, 100, 500, 900, 950, 1000]) expect(axis.at(axis.place(at))).toBeCloseTo(at, 3);
  });

  test("a short gap is left as it is", () => {
    expect(makeAxis({ from: 0, to: 1000 }, [{ from: 10, to: 60 }]).folded).toEqual([]);
  });

  test("a job that only waited has an axis too", () => {
    const waiting = makeAxis({ from: 0, to: 1000 }, [{ from: 0, to: 1000 }]);
    expect(waiting.place(500)).toBeCloseTo(0.5);
  });
});

describe("ticks", () => {
  const [HOUR, start] = [3_600_000, new Date(2026, 11, 1, 8, 17, 40).getTime()];

  test("they stand at round moments of the reader's clock and do not touch", () => {
    const axis = makeAxis({ from: start, to: start + 6 * HOUR }, []);
    const found = ticks(axis, 0.1);
    expect(found.map((tick) => tick.label)).toEqual(["09:00", "10:00", "11:00", "12:00", "13:00", "14:00"]);
    for (const [at, tick] of found.entries())
      expect(axis.place(tick.at) - axis.place(found[at - 1]?.at ?? Number.NEGATIVE_INFINITY)).toBeGreaterThanOrEqual(
        0.1,
      );
  });

  test("over more than a day the day is told where it begins, and nothing stands in a fold", () => {
    const axis = makeAxis({ from: start, to: start + 30 * HOUR }, [{ from: start + HOUR, to: start + 20 * HOUR }]);
    const found = ticks(axis, 0.1);
    expect(found[0]?.label).toMatch(/^12-0[12] /);
    for (const tick of found) expect(tick.at <= start + HOUR || tick.at >= start + 20 * HOUR).toBe(true);
  });
});

test("a span tells its day once, another day twice, and another year by its number", () => {
  const now = new Date(2026, 11, 1, 12);
  const at = (day: number, hour: number, minute: number) => new Date(2026, 11, day, hour, minute);
  expect(span(at(1, 14, 20), at(1, 15, 5), now)).toBe("14:20–15:05");
  expect(span(at(2, 2, 34), at(2, 11, 14), now)).toBe("12-02 02:34–11:14");
  expect(span(at(1, 22, 0), at(2, 2, 51), now)).toBe("22:00–12-02 02:51");
  expect(span(at(1, 14, 20), at(1, 14, 20), now)).toBe("14:20");
  expect(shortMoment(new Date(2027, 2, 1, 17, 54), now)).toBe("2027-03-01 17:54");
});
