import { expect, test } from "vitest";
import en from "./en.json";
import { known, say } from "./words";
import zh from "./zh.json";

const blanks = (text: string) => [...text.matchAll(/\{(\w+)[|}]/g)].map((found) => found[1]).sort();

test("both languages have the same keys", () => {
  expect(Object.keys(en).sort()).toEqual(Object.keys(zh).sort());
});

test.each(Object.keys(zh) as (keyof typeof zh)[])(
  "%s has the same blanks in both languages, and says something",
  (key) => {
    expect(blanks(en[key])).toEqual(blanks(zh[key]));
    expect(en[key].trim() && zh[key].trim()).toBeTruthy();
  },
);

test("a Chinese sentence stands apart from Latin words by a space", () => {
  const tight = Object.values(zh).filter((text) => /[\u4e00-\u9fff][A-Za-z0-9]|[A-Za-z0-9][\u4e00-\u9fff]/.test(text));
  expect(tight).toEqual([]);
});

test("blanks are filled, and one that nobody fills is left to be seen", () => {
  expect(say("en", "table.updates", { count: 3 })).toContain("3");
  expect(say("en", "table.updates")).toContain("{count|");
});

test("one is not said as many", () => {
  const told = say("en", "job.size", { cards: 8, nodes: 1, attempts: 2 });
  expect(told).toBe("8 cards · 1 node · 2 attempts");
  expect(say("zh", "job.size", { cards: 8, nodes: 1, attempts: 2 })).toBe("8 卡 · 1 节点 · 尝试 2 次");
});

test("a code the console does not know has no key", () => {
  expect(known("status.running")).toBe("status.running");
  expect(known("status.unheard-of")).toBeNull();
});
