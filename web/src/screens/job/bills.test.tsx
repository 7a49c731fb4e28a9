import { screen } from "@testing-library/react";
import { expect, test } from "vitest";
import type { Schemas } from "../../api/client";
import { show } from "../../testing/show";
import { Phases } from "./Bills";

const bill = (failed: string, phases: Schemas["Phases"]) =>
  ({ bill: { failed, fault_at: "2026-12-01T00:00:00Z" }, phases }) as Schemas["BillView"];

test("the seconds of a recovery stand by phase: the longest marked, what is not reached yet a dash, nothing 0", async () => {
  show(<Phases all={[bill("a-1", { detect: 0, stop: 2.25, load: 41 }), bill("a-2", { detect: 3, load: null })]} />);
  expect(await screen.findByText("41s")).toBeTruthy();
  const [head, first, second] = screen
    .getAllByRole("row")
    .map((row) => [...row.children].map((cell) => cell.textContent));
  expect(head?.slice(1)).toEqual(["detect", "stop", "load"]);
  expect(first?.slice(1)).toEqual(["0s", "2.3s", "41s"]);
  expect(second?.slice(1)).toEqual(["3s", "—", "—"]);
  expect([...document.querySelectorAll("td strong")].map((cell) => cell.textContent)).toEqual(["41s", "3s"]);
});

test("recoveries of which no phase is known show no table of phases", async () => {
  show(
    <>
      <Phases all={[bill("a-1", {})]} />
      <span>after</span>
    </>,
  );
  expect(await screen.findByText("after")).toBeTruthy();
  expect(screen.queryByText("Seconds by phase")).toBeNull();
});
