import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import { beforeEach, expect, test } from "vitest";
import { server } from "../../testing/server";
import { show } from "../../testing/show";
import { windowOf } from "./Alerts";
import { Channels } from "./Channels";
import { bodyOf } from "./Rules";

const DUTY = {
  name: "duty",
  kind: "dingtalk://…",
  language: "zh",
  author: "zhou",
  personal: false,
  waiting: 0,
  error: null,
};
const sent: unknown[] = [];

function site(role: string, known: object[]) {
  server.use(
    http.get("*/api/v1/me", () => HttpResponse.json({ user: "wang", roles: [[role, "*"]], grants_ending: [] })),
    http.get("*/api/v1/channels", () => HttpResponse.json(known)),
    http.put("*/api/v1/channels/:name", async ({ params, request }) => {
      sent.push([params.name, await request.json()]);
      return HttpResponse.json({ ...DUTY, name: params.name });
    }),
    http.post("*/api/v1/channels/:name/test", ({ params }) => {
      sent.push(["test", params.name]);
      return HttpResponse.json(DUTY);
    }),
  );
}

beforeEach(() => {
  sent.length = 0;
});

test("a channel is set up by its address, which is typed unseen; a member's is their own", async () => {
  site("member", []);
  show(<Channels />);
  await userEvent.click(await screen.findByRole("button", { name: "New channel" }));
  const dialog = within(await screen.findByRole("dialog"));
  await userEvent.click(dialog.getByLabelText("Channel"));
  await userEvent.paste("mine");
  const address = dialog.getByLabelText(/Address/);
  expect(address).toHaveProperty("type", "password");
  await userEvent.click(address);
  await userEvent.paste("dingtalk://abc");
  expect(dialog.getByText(/yours alone/)).toBeTruthy();
  await userEvent.click(dialog.getByRole("button", { name: "Set" }));
  await waitFor(() => expect(sent).toEqual([["mine", { url: "dingtalk://abc", language: "en", personal: true }]]));
});

test("who may not change a shared channel is offered nothing to do to it", async () => {
  site("member", [DUTY]);
  show(<Channels />);
  await screen.findByText("duty");
  expect(screen.queryByRole("button", { name: "Send a trial" })).toBeNull();
});

test("an operator sends a trial through a channel and is told that it was taken", async () => {
  site("operator", [DUTY]);
  show(<Channels />);
  await userEvent.click(await screen.findByRole("button", { name: "Send a trial" }));
  expect((await screen.findByText(/taken/)).textContent).toBe("✓ taken");
  expect(sent).toEqual([["test", "duty"]]);
});

test("a rule says where it looks and whom it tells", () => {
  const filled = { name: "r", watches: "queue-wait", side: "above", threshold: 60, minutes: 1 } as const;
  expect(bodyOf({ ...filled, project: "nlp", recipients: ["duty"] })).toEqual({
    ...{ watches: "queue-wait", above: 60, for_s: 60, recipients: ["duty"], project: "nlp" },
  });
  expect(bodyOf({ ...filled, watches: "fact:stalled" })).toEqual({ watches: "fact:stalled", for_s: 0, recipients: [] });
});

test("a record opens from a little before it began until a little after its end", () => {
  expect(windowOf({ began: "2026-12-01T03:00:00Z", ended_at: "2026-12-01T04:00:00Z" })).toEqual({
    from: "2026-12-01T02:50:00.000Z",
    to: "2026-12-01T04:10:00.000Z",
    t: "2026-12-01T03:00:00Z",
  });
});
