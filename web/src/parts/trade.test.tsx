import { screen } from "@testing-library/react";
import { expect, test } from "vitest";
import type { Schemas } from "../api/client";
import { show } from "../testing/show";
import { Trade } from "./Trade";

const CHOICE = { save_share: 0.02, lost_share: 0.03, share: 0.05, lost_per_fault_s: 300 };
const SEEN: Schemas["CadenceView"] = {
  ...{ mode: "minutes", advised_s: 600, present_s: 1800, edge: null, kept: false },
  ...{ blocking_s: 0.4, writing_s: 12, saves: 7, nodes: 64, mtbf_s: 86_400, rate: 15.6, rate_low: 9, rate_high: 25 },
  trade: [
    { ...CHOICE, interval_s: 600, advised: true, in_use: false },
    { ...CHOICE, interval_s: 1800, share: 0.0725, lost_per_fault_s: 900, advised: false, in_use: true },
  ],
  storages: [],
};
const NFS = { write_bytes_per_s: 2 ** 28, write_s: 20, restore_bytes_per_s: 2 ** 30, restore_s: 5 };
const LUSTRE = { write_bytes_per_s: 2 ** 30, write_s: 5, restore_bytes_per_s: null, restore_s: null };

test("storages stand beside each other with what a save and a restore take there", async () => {
  const storages: Schemas["StorageView"][] = [
    { ...NFS, storage: "nfs4", kind: "network", in_use: true, saves: 12, restores: 2 },
    { ...LUSTRE, storage: "lustre", kind: "parallel", in_use: false, saves: 3, restores: 0 },
  ];
  show(<Trade seen={{ ...SEEN, storages }} />);
  const used = await screen.findByRole("row", { name: /network file system \(nfs4\)/ });
  expect(used.textContent).toContain("256 MiB/s");
  expect(used.textContent).toContain("5s");
  expect(used.textContent).toContain("in use");
  expect(screen.getByRole("row", { name: /parallel file system \(lustre\)/ }).textContent).toContain("—");
});

test("the advice stands beside what is in use, with what each costs and loses", async () => {
  show(<Trade seen={SEEN} />);
  expect(await screen.findByText("Advised: every 10m")).toBeTruthy();
  expect(screen.getByText(/It saves every 30m now, by time/)).toBeTruthy();
  expect(screen.getByText(/blocks training for 0.4s \(median of 7\); 64 nodes fail once in 1d/)).toBeTruthy();
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
