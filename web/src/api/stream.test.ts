import { expect, test } from "vitest";
import { scopesOf } from "./live";
import { Parser } from "./stream";

test("events are whole however the stream is cut", () => {
  const parser = new Parser();
  const text = 'id: 7\nevent: stalled\ndata: {"a":1}\n\n: ping\n\nid: 8\ndata: x\ndata: y\n\n';
  const told = [...text].flatMap((letter) => parser.feed(letter));
  expect(told).toEqual([
    { id: "7", event: "stalled", data: '{"a":1}' },
    { id: "8", event: "message", data: "x\ny" },
  ]);
});

test("who sees everything follows one stream, others one for each project", () => {
  expect(
    scopesOf([
      ["admin", "*"],
      ["member", "nlp"],
    ]),
  ).toEqual(["*"]);
  expect(
    scopesOf([
      ["member", "nlp"],
      ["lead", "nlp"],
      ["viewer", "vision"],
    ]),
  ).toEqual(["nlp", "vision"]);
  expect(scopesOf([])).toEqual([]);
});
