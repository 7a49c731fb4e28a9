import { HttpResponse, http } from "msw";
import { expect, test } from "vitest";
import { server } from "../testing/server";
import { api, take } from "./client";

const named = (...names: string[]) => names.map((name) => ({ name }));

test("a list of many pages arrives whole and in order", async () => {
  const asked: (string | null)[] = [];
  server.use(
    http.get("*/api/v1/departments", ({ request }) => {
      const cursor = new URL(request.url).searchParams.get("cursor");
      asked.push(cursor);
      if (cursor === null) return HttpResponse.json(named("a", "b"), { headers: { "X-Next": "two" } });
      if (cursor === "two") return HttpResponse.json(named("c"), { headers: { "X-Next": "three" } });
      return HttpResponse.json(named("d"));
    }),
  );
  const found = await take(api.GET("/api/v1/departments"));
  expect(found.map((each) => each.name)).toEqual(["a", "b", "c", "d"]);
  expect(asked).toEqual([null, "two", "three"]);
});

test("a page that is refused refuses the whole list", async () => {
  server.use(
    http.get("*/api/v1/departments", ({ request }) =>
      new URL(request.url).searchParams.has("cursor")
        ? HttpResponse.json({ code: "forbidden", detail: "no", hint: "ask" }, { status: 403 })
        : HttpResponse.json(named("a"), { headers: { "X-Next": "two" } }),
    ),
  );
  await expect(take(api.GET("/api/v1/departments"))).rejects.toMatchObject({ code: "forbidden" });
});
