import { fireEvent, screen } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { expect, test } from "vitest";
import { server } from "../testing/server";
import { show } from "../testing/show";
import { Palette } from "./Palette";

const job = (id: string, name: string) => ({ job: { id, spec: { name, project: "nlp" } } });

test("any job is found by a part of its name, however long ago it was submitted", async () => {
  const asked: (string | null)[] = [];
  server.use(
    http.get("*/api/v1/nodes", () => HttpResponse.json([])),
    http.get("*/api/v1/jobs", ({ request }) => {
      const text = new URL(request.url).searchParams.get("text");
      asked.push(text);
      return HttpResponse.json({ items: [text ? job("j-old", "llm-of-may") : job("j-new", "newest")], next: null });
    }),
  );
  const path = show(<Palette open close={() => {}} />);
  const field = await screen.findByRole("combobox");
  expect(await screen.findByText("newest")).toBeTruthy();
  fireEvent.change(field, { target: { value: "of-may" } });
  fireEvent.click(await screen.findByText("llm-of-may"));
  expect(path()).toBe("/jobs/j-old");
  expect(asked).toEqual([null, "of-may"]);
});
