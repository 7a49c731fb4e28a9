import { expect, test } from "vitest";
import type { Schemas } from "../../api/client";
import { idle } from "./IdleCards";

const card = (node: string, device: number, state: Schemas["CardState"], since: string | null) =>
  ({
    node,
    device,
    device_type: "h800",
    state,
    attempt: "j-1.1",
    job: "j-1",
    idle_since: since,
  }) as Schemas["headway__server__operations__nodes__cards__Card"];

test("idle cards are told together by node, the dearest first, others not at all", () => {
  const found = idle(
    [
      card("n1", 0, "idle", "2026-12-01T01:50:00Z"),
      card("n2", 0, "idle", "2026-12-01T01:00:00Z"),
      card("n2", 1, "idle", "2026-12-01T01:30:00Z"),
      card("n2", 2, "working", null),
      card("n3", 0, "unknown", null),
    ],
    Date.parse("2026-12-01T02:00:00Z"),
  );
  expect(found.map((one) => [one.first.node, one.cards.length, one.lost])).toEqual([
    ["n2", 2, 5400],
    ["n1", 1, 600],
  ]);
});
