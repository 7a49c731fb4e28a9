/** A part of a screen as a reader in English sees it, among the addresses its links lead to. */

import { QueryClientProvider } from "@tanstack/react-query";
import { createMemoryHistory, createRootRoute, createRouter, RouterProvider } from "@tanstack/react-router";
import { render } from "@testing-library/react";
import type { ReactNode } from "react";
import { Dressed, makeQueries } from "../app";
import { WordsProvider } from "../i18n/words";

/** Draws it; answers the address that is open. */
export function show(part: ReactNode): () => string {
  localStorage.setItem("headway.language", "en");
  const shown = () => <>{part}</>;
  const root = createRootRoute({ component: shown, notFoundComponent: () => null });
  const router = createRouter({ routeTree: root, history: createMemoryHistory({ initialEntries: ["/"] }) });
  render(
    <WordsProvider>
      <QueryClientProvider client={makeQueries()}>
        <Dressed>
          <RouterProvider router={router as never} />
        </Dressed>
      </QueryClientProvider>
    </WordsProvider>,
  );
  return () => router.state.location.pathname;
}
