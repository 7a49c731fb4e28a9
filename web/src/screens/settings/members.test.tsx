import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import { beforeEach, expect, test } from "vitest";
import { server } from "../../testing/server";
import { show } from "../../testing/show";
import { Engines } from "./Engines";
import { heldRoles, Members } from "./Members";

const PEOPLE = [
  { user: "wang", roles: [["member", "nlp"]] },
  { user: "li", roles: [["lead", "vision"]] },
  { user: "wu", roles: [["admin", "*"]] },
];
const sent: string[] = [];

function as(role: string) {
  server.use(
    http.get("*/api/v1/me", () => HttpResponse.json({ user: "me", roles: [[role, "*"]], grants_ending: [] })),
    http.get("*/api/v1/users", () => HttpResponse.json(PEOPLE)),
    http.get("*/api/v1/projects", () => HttpResponse.json([{ name: "nlp" }, { name: "vision" }])),
    http.delete("*/api/v1/users/:user/roles/:role", ({ params, request }) => {
      sent.push(`${params.user} ${params.role} ${new URL(request.url).search}`);
      return HttpResponse.json({ user: params.user, roles: [] });
    }),
  );
}

beforeEach(() => {
  sent.length = 0;
});

test("of one project those are members who hold a role in it or everywhere", () => {
  const held = heldRoles(PEOPLE, "nlp");
  expect(held.map(({ user, role, scope }) => `${user} ${role} ${scope}`)).toEqual(["wu admin *", "wang member nlp"]);
  expect(heldRoles(PEOPLE, undefined)).toHaveLength(3);
});

test("an administrator takes a role back, once what follows was read", async () => {
  as("admin");
  show(<Members />);
  const row = (await screen.findByText("wang")).closest("tr") as HTMLElement;
  await userEvent.click(row.querySelector("button") as HTMLElement);
  expect(await screen.findByText("wang is no longer member; jobs that run go on")).toBeTruthy();
  await userEvent.click(screen.getAllByRole("button", { name: "Remove" }).at(-1) as HTMLElement);
  await waitFor(() => expect(sent).toEqual(["wang member ?project=nlp"]));
});

test("a lead reads who belongs where and is told who changes it", async () => {
  as("lead");
  show(<Members />);
  expect(await screen.findByText("Roles are given and taken back by administrators.")).toBeTruthy();
  expect(screen.queryByRole("button", { name: "Remove" })).toBeNull();
});

test("an engine that was tried says what is missing and what to do", async () => {
  as("operator");
  const findings = [
    { code: "check-nodes", ok: false, sentence: "there are nodes with devices: 0", hint: "read what the engine says" },
  ];
  server.use(
    http.get("*/api/v1/engines", () =>
      HttpResponse.json([{ name: "slurm", can: ["cordons"], nodes: { up: 3 }, devices: { h800: 24 } }]),
    ),
    http.post("*/api/v1/engines/slurm/check", () =>
      HttpResponse.json({ engine: "slurm", at: "2026-12-01T00:00:00Z", findings }),
    ),
  );
  show(<Engines />);
  expect(await screen.findByText("up 3")).toBeTruthy();
  await userEvent.click(await screen.findByRole("button", { name: "Check" }));
  expect((await screen.findByRole("status")).textContent).toContain("✕ there are nodes with devices: 0");
  expect(screen.getByText("read what the engine says")).toBeTruthy();
});
