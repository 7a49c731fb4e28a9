/** Lists come in pages: those behind a first one are asked for at once, so that a query always has the whole list. */

import type { Middleware } from "openapi-fetch";

/** The header with the cursor of the page that follows; the last page has none. */
const NEXT = "X-Next";

export const whole: Middleware = {
  async onResponse({ request, response }) {
    let next = response.headers.get(NEXT);
    if (!next) return undefined;
    const rows = (await response.json()) as unknown[];
    while (next) {
      const address = new URL(request.url);
      address.searchParams.set("cursor", next);
      const page = await fetch(new Request(address, request));
      if (!page.ok) return page;
      rows.push(...((await page.json()) as unknown[]));
      next = page.headers.get(NEXT);
    }
    return Response.json(rows);
  },
};
