import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import { expect, test } from "vitest";
import { jobView } from "../../testing/job";
import { server } from "../../testing/server";
import { show } from "../../testing/show";
import { useRelease } from "./held";

const VIEW = jobView(
  { state: "held" },
  {
    held: {
      ...{ at: "2026-12-01T00:00:00Z", reason: "awaits-node", fault: "device", cause: null, owner: "operator" },
      ...{ node: "node-17", sentence: "node-17 lost a card" },
    },
  },
);

function Part() {
  const release = useRelease();
  return (
    <button type="button" onClick={() => release(VIEW)}>
      ask
    </button>
  );
}

async function ask() {
  await userEvent.click(await screen.findByRole("button", { name: "ask" }));
  return within(await screen.findByRole("dialog"));
}

test("a held job is let go only after its reason was said once more", async () => {
  const asked: string[] = [];
  server.use(
    http.post("*/api/v1/jobs/j-1/release", ({ request }) => {
      asked.push(new URL(request.url).pathname);
      return HttpResponse.json({ ...VIEW.job, state: "recovering" });
    }),
  );
  show(<Part />);
  const dialog = await ask();
  expect(dialog.getByText(/node-17 lost a card/)).toBeTruthy();
  expect(dialog.getByText(/Goes on by itself once its node is back/)).toBeTruthy();
  expect(asked).toEqual([]);
  await userEvent.click(dialog.getByRole("button", { name: "Let it go on" }));
  await waitFor(() => expect(asked).toEqual(["/api/v1/jobs/j-1/release"]));
});

test("a job that is held no longer is told so in the server's words", async () => {
  const told = { code: "not-held", detail: "j-1 is not held", hint: "look at it again" };
  server.use(http.post("*/api/v1/jobs/j-1/release", () => HttpResponse.json(told, { status: 409 })));
  show(<Part />);
  const dialog = await ask();
  await userEvent.click(dialog.getByRole("button", { name: "Let it go on" }));
  expect(await screen.findByText(/j-1 is not held look at it again/)).toBeTruthy();
});
