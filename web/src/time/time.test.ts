import { describe, expect, test } from "vitest";
import { makeAxis } from "./axis";
import { duration, isoSeconds, moment } from "./durations";

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
