import { HttpResponse, http } from "msw";
import { beforeEach, expect, test, vi } from "vitest";
import { makeQueries } from "../app";
import { server } from "../testing/server";
import { firstOfJob } from "./first";
import { signIn, signOut } from "./session";

let asked: string[] = [];

beforeEach(() => {
  asked = [];
  signOut();
  server.use(
    http.get("*/api/v1/*", ({ request }) => {
      const { pathname, searchParams } = new URL(request.url);
      const path = pathname.replace("/api/v1/", "");
      asked.push(searchParams.has("attempt") ? `${path} of ${searchParams.get("attempt")}` : path);
      return path === "jobs/j-1" ? HttpResponse.json({ job: { id: "j-1", attempts: 3 } }) : HttpResponse.json([]);
    }),
  );
});

test("what the newest attempt measured is asked for as soon as the job is known", async () => {
  signIn("good");
  firstOfJob(makeQueries(), "j-1");
  await vi.waitFor(() => expect(asked).toHaveLength(6));
  expect(new Set(asked.slice(0, 3))).toEqual(new Set(["facts", "jobs/j-1/attempts", "jobs/j-1"]));
  expect(asked[3]).toBe("jobs/j-1/readings/nodes of 3");
});

test("nobody signed in asks for nothing, and what fails is left to the screen", async () => {
  const queries = makeQueries();
  firstOfJob(queries, "j-1");
  expect(queries.isFetching()).toBe(0);
  signIn("good");
  server.use(http.get("*/api/v1/jobs/j-1", () => HttpResponse.json({ code: "not-found" }, { status: 404 })));
  firstOfJob(queries, "j-1");
  await vi.waitFor(() => expect(queries.isFetching()).toBe(0));
  expect(asked.some((path) => path.includes("readings"))).toBe(false);
});
