import { expect, test } from "vitest";
import type { Schemas } from "../../api/client";
import { cellAt, groups, layOut, lookOf } from "./cells";

const view = (
  name: string,
  devices = 8,
  taken: Record<string, string> = {},
  state: Schemas["NodeState"] = "up",
): Schemas["NodeView"] => ({
  node: { name, engine: "slurm", device_type: "H800", devices, maker: "nvidia", state },
  taken,
  occupied: [],
});

test("every card has a cell, nodes in the order people count", () => {
  const found = groups([view("n10"), view("n2")], new Map(), new Map());
  expect(found).toHaveLength(1);
  expect(found[0]?.blocks.map((block) => block.name)).toEqual(["n2", "n10"]);
  expect(layOut(found, 400).cells).toHaveLength(16);
});

test("cards held by others are told from idle ones", () => {
  const shared = { ...view("n1", 4, { "0": "j-1.1" }), occupied: [{ node: "n1", devices: 2, by: "slurm 77" }] };
  const cells = groups([shared], new Map(), new Map())[0]?.blocks[0]?.cells ?? [];
  expect(cells.map((cell) => lookOf(cell, "occupancy"))).toEqual(["busy", "foreign", "foreign", "idle"]);
});

test("what nobody measured is unknown, never good", () => {
  const cell = groups([view("n1", 1, { "0": "j-1.1" })], new Map(), new Map())[0]?.blocks[0]?.cells[0];
  expect(cell && lookOf(cell, "utilisation")).toBe("unknown");
  expect(cell && lookOf(cell, "health")).toBe("unknown");
});

test("a suspect node shows so in the health lens even when it was closed for it", () => {
  const looks = (state: Schemas["NodeState"], level: Schemas["Level"]) =>
    groups([view("n1", 1, {}, state)], new Map(), new Map([["n1", level]])).map(
      (group) => group.blocks[0]?.cells[0] && lookOf(group.blocks[0].cells[0], "health"),
    )[0];
  expect([looks("cordoned", "suspect"), looks("cordoned", "normal"), looks("up", "normal")]).toEqual([
    "suspect",
    "out",
    "idle",
  ]);
});

test("held and not computing is wasted", () => {
  const cell = groups([view("n1", 1, { "0": "j-1.1" })], new Map([["n1 0", 1]]), new Map())[0]?.blocks[0]?.cells[0];
  expect(cell && lookOf(cell, "utilisation")).toBe("wasted");
});

test("a point finds its cell, and between cells there is none", () => {
  const sheet = layOut(groups([view("n1")], new Map(), new Map()), 400);
  const second = sheet.cells[1];
  expect(cellAt(sheet, (second?.x ?? 0) + 1, (second?.y ?? 0) + 1)?.device).toBe(1);
  expect(cellAt(sheet, (second?.x ?? 0) - 1, (second?.y ?? 0) + 1)).toBeNull();
});

test("eight thousand cards are laid out without overlap", () => {
  const many = Array.from({ length: 1024 }, (_, at) => view(`node-${at}`));
  const sheet = layOut(groups(many, new Map(), new Map()), 1200);
  expect(sheet.cells).toHaveLength(8192);
  expect(new Set(sheet.cells.map((one) => `${one.x} ${one.y}`)).size).toBe(8192);
});
