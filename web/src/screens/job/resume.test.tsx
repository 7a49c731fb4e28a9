import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import { beforeEach, expect, test } from "vitest";
import { jobView, PROJECT } from "../../testing/job";
import { server } from "../../testing/server";
import { show } from "../../testing/show";
import { Checkpoints } from "./Checkpoints";

const V1 = "*/api/v1/jobs/j-1";
const PATH = "/data/j-1/step-00000100";
const SAVED = {
  ...{ job: "j-1", attempt: "a-1", step: 100, path: PATH, bytes: 1024, seconds: 2, state: "verified" as const },
  saved_at: "2026-12-01T00:00:00Z",
};
const ENDED = jobView({ state: "failed", ended_at: "2026-12-01T01:00:00Z" });
const MOVE = {
  ...{ spec: ENDED.job.spec, step: 100, path: PATH },
  carries: [
    { what: "checkpoint", carried: "yes", code: "carry-checkpoint", sentence: "all 3 files match" },
    { what: "optimizer", carried: "no", code: "carry-optimizer", sentence: "its optimizer begins anew" },
  ],
  forecast: { job: "j-1", as_of: "2026-12-01T01:00:00Z", p50: null, p90: null, unknown: "quota" },
};

beforeEach(() => {
  server.use(
    http.get("*/api/v1/me", () => HttpResponse.json({ user: "wang", roles: [["member", PROJECT]], grants_ending: [] })),
    http.post(`${V1}/resume/dry-run`, () => HttpResponse.json(MOVE)),
  );
});

test("a resume says first what is done again and what is not carried over, then opens the new job", async () => {
  const sent: unknown[] = [];
  server.use(
    http.post(`${V1}/resume`, async ({ request }) => {
      sent.push(await request.json());
      return HttpResponse.json({ ...ENDED.job, id: "j-2", state: "queued" }, { status: 201 });
    }),
  );
  const address = show(<Checkpoints found={[SAVED]} view={ENDED} />);
  await userEvent.click(await screen.findByRole("button", { name: "Resume from here" }));
  const dialog = within(await screen.findByRole("dialog"));
  expect(await dialog.findByText(/It had come to step 130: 30 steps are done again/)).toBeTruthy();
  expect(dialog.getByText(/its optimizer begins anew/).textContent).toContain("not carried over");
  await userEvent.click(dialog.getByRole("button", { name: "Resume from checkpoint" }));
  await waitFor(() => expect(address()).toBe("/jobs/j-2"));
  expect(sent).toEqual([{ checkpoint: PATH }]);
});

test("a checkpoint that is bad by now cannot be resumed from, and the dialog says why", async () => {
  const told = { code: "checkpoint-bad", detail: "its files do not match", hint: "choose another" };
  server.use(http.post(`${V1}/resume/dry-run`, () => HttpResponse.json(told, { status: 409 })));
  show(<Checkpoints found={[SAVED]} view={ENDED} />);
  await userEvent.click(await screen.findByRole("button", { name: "Resume from here" }));
  const dialog = within(await screen.findByRole("dialog"));
  expect(await dialog.findByText("its files do not match")).toBeTruthy();
  expect(dialog.getByRole("button", { name: "Resume from checkpoint" })).toHaveProperty("disabled", true);
});

test("what lives, or was rejected, offers no resume", async () => {
  show(
    <>
      <Checkpoints found={[SAVED]} view={jobView()} />
      <Checkpoints found={[{ ...SAVED, state: "rejected" as const, reason: "torn" }]} view={ENDED} />
    </>,
  );
  expect(await screen.findByText(/torn/)).toBeTruthy();
  expect(screen.queryByRole("button", { name: "Resume from here" })).toBeNull();
});
