import { expect, test } from "vitest";
import en from "./en.json";
import { known, listed, say } from "./words";
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

test("a number is grouped as the language writes it, what is no number stays", () => {
  expect(say("zh", "job.resumed", { step: 6000 })).toBe("从 step 6,000 恢复");
  expect(say("en", "job.resumed", { step: "6000" })).toBe("resumed at step 6000");
});

test("where a blank is filled in Chinese no space is left between two Chinese characters", () => {
  expect(say("zh", "cadence.advice", { interval: "58 分" })).toBe("建议每 58 分写一次");
  expect(say("zh", "rules.above", { watches: "卡温度", threshold: "85 °C" })).toBe("卡温度高于 85 °C");
  expect(say("zh", "rules.above", { watches: "SM", threshold: "5" })).toBe("SM 高于 5");
});

test("several are listed as the language lists them", () => {
  expect(listed(["成员", "管理员"], "zh")).toBe("成员、管理员");
  expect(listed(["member", "admin"], "en")).toBe("member, admin");
});

test("what is counted in English is told as one or as many", () => {
  const counts = /\{\w+\} (?:[a-z]+ ){0,2}(?:node|card|card-hour|rank|day|hour|step|job|attempt|fault|line|update)s\b/;
  expect(Object.entries(en).filter(([, text]) => counts.test(text))).toEqual([]);
});
