import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import { expect, test } from "vitest";
import type { Schemas } from "../../api/client";
import { say } from "../../i18n/words";
import { server } from "../../testing/server";
import { show } from "../../testing/show";
import { Months, WithMore, waited } from "./ReportView";

const WAITED = { starts: 4, wait_seconds: 7200, mean_s: 1800, p50_s: 60, p90_s: 5400, max_s: 6000, waiting: 1 };
const FAILED = { ended: 8, failed: 2, rate: 0.25, preempted: 0, drilled: 0, faults: {}, device_seconds: 0 };
const USED = { device_type: "h800", device_seconds: 10, own_device_seconds: 20, utilisation: 0.5 };
const MONTH = { project: "nlp", month: "2026-11", waited: WAITED, used: [USED], failed: FAILED, jobs: [] };
const WAITS = { jobs: 4, mean_wait: 1800, p50_wait: 60, p90_wait: 5400, max_wait: 6000 };
const SIDE = { ...WAITS, slowdown: 1, evictions: 0, utilisation: null };

test("a month tells use and failures as shares of what was a project's own and of what ended", async () => {
  show(<Months all={[MONTH as unknown as Schemas["Report-Output"]]} />);
  const row = await screen.findByRole("row", { name: /nlp/ });
  expect(row.textContent).toContain("h800 50 %");
  expect(row.textContent).toContain("25 % · 2/8");
});

test("what more nodes would have changed stands beside what was, and what was left out is said", async () => {
  const asked: string[][] = [];
  server.use(
    http.get("*/api/v1/nodes", () => HttpResponse.json([])),
    http.get("*/api/v1/reports/with-more", ({ request }) => {
      asked.push(new URL(request.url).searchParams.getAll("add"));
      const whole = { before: SIDE, after: { ...SIDE, mean_wait: 300 } };
      return HttpResponse.json({ month: "2026-11", added: [], jobs: 4, left_out: 1, whole, projects: { nlp: whole } });
    }),
  );
  show(<WithMore month="2026-11" />);
  await userEvent.click(await screen.findByLabelText("Nodes to add"));
  await userEvent.paste("4x8xH800 1x8xH20");
  await userEvent.click(screen.getByRole("button", { name: "Play it again" }));
  expect(await screen.findByText("1 job that fits nowhere: left out")).toBeTruthy();
  expect(screen.getByRole("row", { name: /all projects/ }).textContent).toContain("30m → 5m");
  expect(asked).toEqual([["4x8xH800", "1x8xH20"]]);
});

test("a wait that goes on is not told as none", () => {
  const line = (job: Partial<Schemas["JobLine"]>) =>
    waited(
      { starts: 0, wait_seconds: 0, waiting: false, ...job } as Schemas["JobLine"],
      (key, blanks) => say("en", key, blanks),
      "en",
    );
  expect(line({ waiting: true })).toBe("still waiting");
  expect(line({ waiting: true, starts: 1, wait_seconds: 1800 })).toBe("30m · still waiting");
  expect(line({ starts: 1, wait_seconds: 1800 })).toBe("30m");
});
