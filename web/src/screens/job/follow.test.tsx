import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import { expect, test } from "vitest";
import { server } from "../../testing/server";
import { show } from "../../testing/show";
import { Follow } from "./Follow";

const WAY = {
  name: "duty",
  kind: "json://…",
  language: "en",
  author: "zhou",
  personal: false,
  waiting: 0,
  error: null,
};

test("a job is followed through a channel, and left again", async () => {
  let through: string | null = null;
  server.use(
    http.get("*/api/v1/channels", () => HttpResponse.json([WAY])),
    http.get("*/api/v1/jobs/j-1/following", () =>
      HttpResponse.json(through && { user: "wang", job: "j-1", channel: through, at: "2026-12-01T00:00:00Z" }),
    ),
    http.put("*/api/v1/jobs/j-1/following", async ({ request }) => {
      through = ((await request.json()) as { channel: string }).channel;
      return HttpResponse.json({});
    }),
    http.delete("*/api/v1/jobs/j-1/following", () => {
      through = null;
      return new HttpResponse(null, { status: 204 });
    }),
  );
  show(<Follow job="j-1" />);
  await userEvent.click(await screen.findByRole("button", { name: "Follow" }));
  await userEvent.click(await screen.findByText("through duty (json://…)"));
  await userEvent.click(await screen.findByRole("button", { name: /Following: duty/ }));
  await userEvent.click(await screen.findByText("Follow no more"));
  await screen.findByRole("button", { name: "Follow" });
  await waitFor(() => expect(through).toBeNull());
});

test("without a channel the way to set one up is shown", async () => {
  server.use(
    http.get("*/api/v1/channels", () => HttpResponse.json([])),
    http.get("*/api/v1/jobs/j-1/following", () => HttpResponse.json(null)),
  );
  show(<Follow job="j-1" />);
  await userEvent.click(await screen.findByRole("button", { name: "Follow" }));
  const link = await screen.findByRole("link", { name: "Set up a channel first" });
  expect(link.getAttribute("href")).toContain("tab=channels");
});
