import { describe, expect, test } from "vitest";
import { pieces } from "./ansi";
import { stampOf } from "./stamps";
import { PIECE, Window } from "./window";

function windowOf(text: string) {
  const bytes = new TextEncoder().encode(text);
  const asked: number[] = [];
  const window = new Window(async (offset, limit) => {
    asked.push(offset);
    return { bytes: bytes.slice(offset, offset + limit), size: bytes.length };
  });
  return { window, asked, size: bytes.length };
}

describe("the window", () => {
  const many = Array.from({ length: 50_000 }, (_, at) => `line ${at} 损失`)
    .join("\n")
    .concat("\n");

  test("lines are whole and follow one another, also over the edge of a piece", async () => {
    const { window } = windowOf(many);
    await window.grow();
    const lines = await window.lines(PIECE - 10, 3);
    expect(lines[0]?.offset).toBeLessThan(PIECE);
    expect(lines[0]?.end).toBe(lines[1]?.offset);
    const first = Number(lines[0]?.text.split(" ")[1]);
    expect(lines.map((line) => line.text)).toEqual([first, first + 1, first + 2].map((at) => `line ${at} 损失`));
  });

  test("the end costs one or two pieces, however long the log is", async () => {
    const { window, asked } = windowOf(many);
    const start = await window.tail(20);
    const lines = await window.lines(start, 20);
    expect(lines[19]?.text).toBe("line 49999 损失");
    expect(asked.length).toBeLessThanOrEqual(3);
  });

  test("back and forth comes to the same place", async () => {
    const { window } = windowOf(many);
    await window.grow();
    const [line] = await window.lines(500_000, 1);
    const earlier = await window.before(line?.offset ?? 0, 40);
    const lines = await window.lines(earlier, 41);
    expect(lines[40]).toEqual(line);
  });

  test("an empty log has no lines, one without a newline has one", async () => {
    const empty = windowOf("").window;
    expect(await empty.tail(10)).toBe(0);
    expect(await empty.lines(0, 10)).toEqual([]);
    const one = windowOf("no end").window;
    await one.grow();
    expect((await one.lines(0, 10)).map((line) => line.text)).toEqual(["no end"]);
  });

  test("a line without end is cut, not loaded whole", async () => {
    const { window, asked } = windowOf("x".repeat(10 * PIECE));
    await window.grow();
    expect(await window.lines(0, 4)).toHaveLength(4);
    expect(asked.length).toBeLessThanOrEqual(3);
  });
});

describe("a moment in a log", () => {
  const line = (second: number) =>
    `2026-11-03 08:${String(Math.floor(second / 60)).padStart(2, "0")}:${String(second % 60).padStart(2, "0")}Z step ${second}`;
  const text = Array.from(
    { length: 3000 },
    (_, second) => `${line(second)}\n${second % 50 === 0 ? "Traceback\n  at line\n" : ""}`,
  ).join("");

  test("its line is found by halving", async () => {
    const { window, asked } = windowOf(text);
    const at = Date.UTC(2026, 10, 3, 8, 20, 34);
    const offset = await window.find(at, stampOf);
    const [found] = await window.lines(offset ?? -1, 1);
    expect(found?.text).toBe(line(20 * 60 + 34));
    expect(asked.length).toBeLessThan(12);
  });

  test("a log that tells no time has no place for a moment", async () => {
    const { window } = windowOf("a\nb\nc\n");
    expect(await window.find(0, stampOf)).toBeNull();
  });
});

describe("colours", () => {
  test("colours are taken from the text and put beside it", () => {
    expect(pieces("\u001b[1;31mError\u001b[0m: boom")).toEqual([
      { text: "Error", colour: 1, bold: true },
      { text: ": boom", colour: null, bold: false },
    ]);
  });

  test("a progress bar shows its last state", () => {
    expect(pieces("10%\r20%\r30%\r").map((piece) => piece.text)).toEqual(["30%"]);
  });

  test("other control sequences are left out, 256 colours are passed over", () => {
    expect(
      pieces("\u001b[2K\u001b[38;5;208mhot\u001b[K\u001b]0;title\u0007!")
        .map((piece) => piece.text)
        .join(""),
    ).toBe("hot!");
  });
});
