import { expect, test } from "vitest";
import { type Key, say } from "../i18n/words";
import { factName, pairs, whoOf } from "./told";

const t = (key: Key, blanks = {}) => say("zh", key, blanks);

test("who recorded something is told in words, a person by name", () => {
  expect(whoOf("server", t)).toBe("平台");
  expect(whoOf("node:h07", t)).toBe("节点 h07");
  expect(whoOf("agent:h11", t)).toBe("h11 的代理");
  expect(whoOf("node", t)).toBe("node");
  expect(whoOf(null, t)).toBe("—");
});

test("a kind of fact has a name, one that is newer than the console its code", () => {
  expect(factName("attempt-ended", t)).toBe("尝试结束");
  expect(factName("unheard-of", t)).toBe("unheard-of");
});

test("what a fact says is told by name and value, and nothing of what it leaves open", () => {
  expect(pairs({ step: 5, loss: null, nodes: ["a"] })).toBe('step=5 nodes=["a"]');
});
