import { screen } from "@testing-library/react";
import { expect, test } from "vitest";
import { show } from "../testing/show";
import { Quantity } from "./Quantity";
import { Simple } from "./Simple";

test("a column of nothing but figures stands at the right, one with words at the left", async () => {
  const rows = [
    { key: "a", steps: <Quantity value={12} />, note: <Quantity value={3} /> },
    { key: "b", steps: "—", note: "unknown" },
  ];
  show(
    <Simple
      rows={rows}
      columns={[
        ["steps", "Steps"],
        ["note", "Note"],
      ]}
    />,
  );
  const head = await screen.findByRole("columnheader", { name: "Steps" });
  expect(head.className).toContain("figured");
  expect(screen.getByRole("columnheader", { name: "Note" }).className).not.toContain("figured");
});
