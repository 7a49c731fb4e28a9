import { expect, test } from "vitest";
import { hold } from "./held";

const key = (row: { id: string }) => row.id;
const rows = (...ids: string[]) => ids.map((id) => ({ id }));

test("a new row on top waits", () => {
  const held = hold(["a", "b"], rows("new", "a", "b"), key);
  expect(held.rows.map(key)).toEqual(["a", "b"]);
  expect(held.waiting).toBe(1);
});

test("a further page is no change of what is seen", () => {
  const held = hold(["a", "b"], rows("a", "b", "c", "d"), key);
  expect(held.rows.map(key)).toEqual(["a", "b", "c", "d"]);
  expect(held.waiting).toBe(0);
});

test("what changed is shown in place, and what is gone is gone", () => {
  const held = hold(["a", "b"], [{ id: "b", step: 2 }], key);
  expect(held.rows).toEqual([{ id: "b", step: 2 }]);
});
