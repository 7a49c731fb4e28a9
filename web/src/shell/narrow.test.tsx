import { QueryClientProvider } from "@tanstack/react-query";
import { createMemoryHistory, RouterProvider } from "@tanstack/react-router";
import { render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Dressed, makeQueries } from "../app";
import { WordsProvider } from "../i18n/words";
import { makeRouter } from "../router";
import { server } from "../testing/server";

beforeEach(() => {
  localStorage.setItem("headway.language", "en");
  localStorage.setItem("headway.token", "hw_token");
  const wide = window.matchMedia;
  vi.spyOn(window, "matchMedia").mockImplementation((query) => ({ ...wide(query), matches: query.includes("900px") }));
  server.use(
    http.get("*/api/v1/me", () => HttpResponse.json({ user: "wang", roles: [["member", "nlp"]], grants_ending: [] })),
    http.get("*/api/v1/*", () => HttpResponse.json([])),
  );
});
afterEach(() => vi.restoreAllMocks());

test("where there is no room the menu opens over the page, and closes once something was chosen", async () => {
  const queries = makeQueries();
  const router = makeRouter(queries, createMemoryHistory({ initialEntries: ["/alerts"] }));
  render(
    <WordsProvider>
      <QueryClientProvider client={queries}>
        <Dressed>
          <RouterProvider router={router} />
        </Dressed>
      </QueryClientProvider>
    </WordsProvider>,
  );
  expect(screen.queryByRole("navigation")).toBeNull();
  await userEvent.click(await screen.findByRole("button", { name: "Main menu" }));
  const menu = within(await screen.findByRole("dialog"));
  await userEvent.click(menu.getByRole("menuitem", { name: "Services" }));
  expect(router.state.location.pathname).toBe("/services");
  expect((await screen.findAllByRole("main")).length).toBe(1);
});
