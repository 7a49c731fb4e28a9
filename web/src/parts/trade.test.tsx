import { screen } from "@testing-library/react";
import { expect, test } from "vitest";
import type { Schemas } from "../api/client";
import { show } from "../testing/show";
import { Trade } from "./Trade";

const CHOICE = { save_share: 0.02, lost_share: 0.03, share: 0.05, lost_per_fault_s: 300 };
const SEEN: Schemas["CadenceView"] = {
  ...{ mode: "minutes", advised_s: 600, present_s: 1800, edge: null, kept: false },
  ...{ blocking_s: 0.4, writing_s: 12, saves: 7, nodes: 64, mtbf_s: 86_400, rate: 15.6, rate_low: 9, rate_high: 25 },
  storages: [],
  trade: [
    { ...CHOICE, interval_s: 600, advised: true, in_use: false },
    { ...CHOICE, interval_s: 1800, share: 0.0725, lost_per_fault_s: 900, advised: false, in_use: true },
  ],
};

test("the advice stands beside what is in use, with what each costs and loses", async () => {
  show(<Trade seen={SEEN} />);
  expect(await screen.findByText("Advised: every 10m")).toBeTruthy();
  expect(screen.getByText(/It saves every 30m now, by time/)).toBeTruthy();
  expect(screen.getByText(/blocks training for 0.4 s \(median of 7\); 64 nodes fail once in 1d/)).toBeTruthy();
  const used = screen.getByRole("row", { name: /in use/ });
  expect(used.textContent).toContain("7.25 %");
  expect(used.textContent).toContain("15m");
  expect(screen.getByRole("row", { name: /5 %.*advised/ }).textContent).toContain("10m");
});

test("a cost that nobody measured is said to be assumed", async () => {
  show(<Trade seen={{ ...SEEN, saves: 0, present_s: null, edge: "shortest" }} />);
  expect(await screen.findByText(/Nothing was measured yet/)).toBeTruthy();
  expect(screen.getByText(/the shortest its policy allows/)).toBeTruthy();
  expect(screen.queryByText(/It saves every/)).toBeNull();
});
