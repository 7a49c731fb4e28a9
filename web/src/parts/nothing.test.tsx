import { screen } from "@testing-library/react";
import { expect, test } from "vitest";
import { show } from "../testing/show";
import { Nothing } from "./states";

test("a command is told as another way only where there is a way before it", async () => {
  show(
    <>
      <Nothing command="headway one">Nothing of one</Nothing>
      <Nothing command="headway two" action={<button type="button">Add two</button>}>
        Nothing of two
      </Nothing>
    </>,
  );
  expect((await screen.findByText("headway one")).parentElement?.textContent).toBe("Run headway one");
  expect(screen.getByText("headway two").parentElement?.textContent).toBe("or run headway two");
});
