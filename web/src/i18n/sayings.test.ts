import { expect, test } from "vitest";
import { retold } from "./sayings";
import { type Key, say } from "./words";

const zh = (key: Key, blanks = {}) => say("zh", key, blanks);
const en = (key: Key, blanks = {}) => say("en", key, blanks);

test("what Headway said itself is told in the reader's language with its values", () => {
  expect(retold("there is no node n9; there are n0, n1", zh)).toBe("没有节点 n9，现有 n0, n1");
  expect(retold("there is no node n9; there are n0, n1", en)).toBe("there is no node n9; there are n0, n1");
});

test("a program's own words stand as they are beside what Headway saw", () => {
  expect(retold("OSError: write error; /ckpt is full", zh)).toBe("OSError: write error；/ckpt 已满");
  expect(retold("RuntimeError: the disk is full", zh)).toBe("RuntimeError: the disk is full");
});
