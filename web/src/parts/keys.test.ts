import { expect, test } from "vitest";
import { namesOf } from "./keys";

const never = { key: "", at: -10_000 };
const press = (key: string, more: KeyboardEventInit = {}) => new KeyboardEvent("keydown", { key, ...more });

test("a key of an input method that composes is nobody's", () => {
  expect(namesOf(press("j", { isComposing: true }), never)).toEqual([]);
});

test("a key typed into a field is the field's, but mod+k is heard everywhere", () => {
  const field = document.body.appendChild(document.createElement("input"));
  const typed = (event: KeyboardEvent) => {
    let names: string[] = [];
    field.addEventListener("keydown", (heard) => (names = namesOf(heard, never)), { once: true });
    field.dispatchEvent(event);
    return names;
  };
  expect(typed(press("j"))).toEqual([]);
  expect(typed(press("k", { ctrlKey: true }))).toEqual(["mod+k"]);
});

test("two keys in a row are a pair", () => {
  const event = press("j");
  expect(namesOf(event, { key: "g", at: event.timeStamp - 10 })[0]).toBe("g j");
  expect(namesOf(event, { key: "g", at: event.timeStamp - 5000 })).toEqual(["j"]);
});
