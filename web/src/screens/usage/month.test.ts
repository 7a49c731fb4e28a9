import { expect, test } from "vitest";
import { monthName, months } from "./Month";

test("a month is named in the console's language; what is none stays as it is", () => {
  expect(monthName("2026-12", "zh")).toBe("2026年12月");
  expect(monthName("2026-12", "en")).toBe("December 2026");
  expect(monthName("soon", "en")).toBe("soon");
});

test("months go back from the present one, across years", () => {
  expect(months(Date.parse("2027-01-31T23:00:00Z")).slice(0, 3)).toEqual(["2027-01", "2026-12", "2026-11"]);
});
