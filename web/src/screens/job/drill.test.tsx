import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import { beforeEach, expect, test } from "vitest";
import { useMay } from "../../parts/may";
import { jobView, PROJECT } from "../../testing/job";
import { server } from "../../testing/server";
import { show } from "../../testing/show";
import { useDrill } from "./drill";

const sent: unknown[] = [];

function Part() {
  const drill = useDrill();
  const { user } = useMay();
  return (
    <button type="button" onClick={() => drill(jobView())}>
      ask as {user}
    </button>
  );
}

async function ask(role: string) {
  server.use(
    http.get("*/api/v1/me", () => HttpResponse.json({ user: "wang", roles: [[role, PROJECT]], grants_ending: [] })),
  );
  show(<Part />);
  await userEvent.click(await screen.findByRole("button", { name: "ask as wang" }));
  return within(await screen.findByRole("dialog"));
}

beforeEach(() => {
  sent.length = 0;
  server.use(
    http.post("*/api/v1/jobs/j-1/drills", async ({ request }) => {
      const order = (await request.json()) as object;
      sent.push(order);
      return HttpResponse.json(
        { ...order, drill: "d-1", job: "j-9", at_step: null, shadow_of: "j-1" },
        { status: 201 },
      );
    }),
  );
});

test("a drill of a copy says what it takes, and orders what was chosen", async () => {
  const dialog = await ask("member");
  expect(dialog.getByRole("note").textContent).toContain("steps that were not saved are done again");
  await userEvent.click(dialog.getByRole("radio", { name: "a rank stops where it is" }));
  expect(dialog.getByRole("note").textContent).toContain("once the stall is found");
  await userEvent.clear(dialog.getByLabelText("rank"));
  await userEvent.type(dialog.getByLabelText("rank"), "5");
  await userEvent.click(await dialog.findByRole("checkbox", { name: "Drill a copy" }));
  expect(dialog.getByRole("note").textContent).toContain("the copy takes 8 cards of its own");
  await userEvent.click(dialog.getByRole("button", { name: "Drill" }));
  expect(await screen.findByText("Drill ordered, on the copy j-9")).toBeTruthy();
  expect(sent).toEqual([{ kill: "stop", rank: 5, shadow: true }]);
});

test("a drill may wait for a step", async () => {
  const dialog = await ask("member");
  await userEvent.type(dialog.getByLabelText("Not before step"), "150");
  expect(dialog.getByRole("note").textContent).toContain("waits for step 150");
  await userEvent.click(dialog.getByRole("radio", { name: "a rank stops where it is" }));
  expect(dialog.getByRole("note").textContent).toContain("waits for step 150");
  expect(dialog.getByRole("note").textContent).toContain("once the stall is found");
  await userEvent.click(dialog.getByRole("button", { name: "Drill" }));
  await waitFor(() => expect(sent).toEqual([{ kill: "stop", rank: 0, shadow: false, at_step: 150 }]));
});

test("who may not submit is offered no copy", async () => {
  const dialog = await ask("operator");
  expect(dialog.getByRole("radio", { name: "a rank is killed" })).toHaveProperty("checked", true);
  expect(dialog.queryByRole("checkbox")).toBeNull();
  await userEvent.click(dialog.getByRole("button", { name: "Drill" }));
  await waitFor(() => expect(sent).toEqual([{ kill: "rank", rank: 0, shadow: false }]));
});
