import { expect, test } from "vitest";
import { type Key, say } from "../../i18n/words";
import { sentenceOf } from "./Rules";
import { GAUGES, watchedName, watchedValue } from "./watched";

const zh = (key: Key, blanks?: Record<string, string | number>) => say("zh", key, blanks);
const rule = { name: "r", recipients: [], scope: {}, comparison: "above", threshold: null, lasting: "PT0S" } as const;
type Rule = Parameters<typeof sentenceOf>[0];
const told = (over: object) => sentenceOf({ ...rule, ...over } as unknown as Rule, zh, "zh");

test("a rule is a sentence in the reader's language, with units", () => {
  expect(told({ watches: "queue-wait", threshold: 10800 })).toBe("排队时间高于 3 小时");
  expect(told({ watches: "reading:device_temperature_celsius", threshold: 85, lasting: "PT5M" })).toBe(
    "卡温度高于 85 °C，持续 5 分",
  );
  expect(told({ watches: "node-down", threshold: 0.5, lasting: "PT10M" })).toBe("节点离线，持续 10 分");
  expect(told({ watches: "fact:stalled" })).toBe("出现：作业停滞");
});

test("every gauge has a name, and what nobody named stays as it is", () => {
  expect(GAUGES.filter((gauge) => watchedName(gauge, zh) === gauge)).toEqual([]);
  expect(watchedName("reading:my_metric", zh)).toBe("my_metric");
  expect(watchedValue("budget", 0.9, "en")).toBe("90 %");
});
