import { fireEvent, screen } from "@testing-library/react";
import { useState } from "react";
import { expect, test } from "vitest";
import { show } from "../testing/show";
import { Simple } from "./Simple";

function Growing() {
  const [names, set] = useState(["b", "c"]);
  return (
    <>
      <button type="button" onClick={() => set(["a", ...names])}>
        grow
      </button>
      <Simple rows={names.map((name) => ({ key: name, name: `row ${name}` }))} columns={[["name", "Name"]]} />
    </>
  );
}

const rows = () => screen.getAllByText(/^row /).map((cell) => cell.textContent);

test("no row comes under a pointer that is over a table; it is counted and comes when it is asked for", async () => {
  show(<Growing />);
  fireEvent.pointerEnter(await screen.findByText("row b"));
  fireEvent.click(screen.getByText("grow"));
  expect(rows()).toEqual(["row b", "row c"]);
  fireEvent.click(screen.getByRole("button", { name: /1 update/ }));
  expect(rows()).toEqual(["row a", "row b", "row c"]);
});
