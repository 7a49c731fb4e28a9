import { QueryClientProvider } from "@tanstack/react-query";
import { createMemoryHistory, RouterProvider } from "@tanstack/react-router";
import { render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import { beforeEach, expect, test } from "vitest";
import { signOut, token } from "../api/session";
import { Dressed, makeQueries } from "../app";
import { WordsProvider } from "../i18n/words";
import { makeRouter } from "../router";
import { server } from "../testing/server";

const V1 = "*/api/v1";

function open(address: string) {
  const queries = makeQueries();
  const router = makeRouter(queries, createMemoryHistory({ initialEntries: [address] }));
  render(
    <WordsProvider>
      <QueryClientProvider client={queries}>
        <Dressed>
          <RouterProvider router={router} />
        </Dressed>
      </QueryClientProvider>
    </WordsProvider>,
  );
  return router;
}

beforeEach(() => {
  localStorage.setItem("headway.language", "en");
  signOut();
  server.use(
    http.get(`${V1}/me`, ({ request }) =>
      request.headers.get("Authorization") === "Bearer good"
        ? HttpResponse.json({ user: "wang", roles: [["member", "nlp"]], grants_ending: [] })
        : HttpResponse.json({ code: "not-logged-in", detail: "log in first", hint: "headway login" }, { status: 401 }),
    ),
    http.get(`${V1}/health`, () => HttpResponse.json({ status: "ok", version: "0" })),
    http.get(`${V1}/projects`, () => HttpResponse.json([])),
    http.get(`${V1}/jobs`, () => HttpResponse.json({ items: [], next: null })),
    http.get(`${V1}/nodes`, () => HttpResponse.json([])),
  );
});

test("a name and a password open the page that was asked for", async () => {
  server.use(http.post(`${V1}/login`, () => HttpResponse.json({ token: "good", user: "wang" })));
  const router = open("/jobs?text=llm");
  await userEvent.type(await screen.findByLabelText("User name"), "wang");
  await userEvent.type(screen.getByLabelText("Password"), "secret-word");
  await userEvent.click(screen.getByRole("button", { name: "Sign in" }));
  expect(await screen.findByText(/Nothing fits/, {}, { timeout: 30_000 })).toBeTruthy();
  expect(token()).toBe("good");
  expect(router.state.location.search).toMatchObject({ text: "llm" });
});

test("a token that opens nothing is refused in words and not kept", async () => {
  open("/");
  await userEvent.click(await screen.findByText("Token"));
  await userEvent.type(await screen.findByLabelText("Token", { selector: "input[type=password]" }), "bad");
  await userEvent.click(screen.getByRole("button", { name: "Sign in" }));
  expect(await screen.findByText("log in first")).toBeTruthy();
  expect(token()).toBeNull();
});

test("a session that has ended asks to sign in again", async () => {
  localStorage.setItem("headway.token", "ended");
  open("/");
  expect(await screen.findByText(/Signed out/)).toBeTruthy();
  await waitFor(() => expect(token()).toBeNull());
});
