/** Colours of a terminal in log lines: SGR sequences become styles, every other control sequence is left out. Pure. */

export interface Piece {
  text: string;
  colour: number | null;
  bold: boolean;
}

const SEQUENCE = /\u001b\[([0-9;?]*)([@-~])|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[\u0000-\u0008\u000b-\u001f]/g;

/** Line by line: a carriage return keeps only what came after it, as a terminal would show. */
export function pieces(line: string): Piece[] {
  const seen = line.replace(/\r+$/, "");
  const shown = seen.slice(seen.lastIndexOf("\r") + 1);
  const found: Piece[] = [];
  let style: Style = { colour: null, bold: false };
  let from = 0;
  const add = (to: number) => {
    if (to > from) found.push({ text: shown.slice(from, to), ...style });
  };
  for (const match of shown.matchAll(SEQUENCE)) {
    add(match.index);
    from = match.index + match[0].length;
    if (match[2] === "m") style = styled(style, match[1] ?? "");
  }
  add(shown.length);
  return found;
}

type Style = Pick<Piece, "colour" | "bold">;

function styled(before: Style, codes: string): Style {
  const list = codes === "" ? [0] : codes.split(";").map(Number);
  let style = before;
  for (let at = 0; at < list.length; at += 1) {
    const code = list[at] ?? 0;
    const isWide = code === 38 || code === 48;
    style = isWide ? wide(style, list.slice(at, at + 3)) : plain(style, code);
    if (isWide) at += list[at + 1] === 5 ? 2 : 4;
  }
  return style;
}

/** "38;5;n": one of 256; grounds and true colours are passed over. */
function wide(style: Style, [code, kind, colour = 0]: number[]): Style {
  if (code !== 38) return style;
  return { ...style, colour: kind === 5 ? sixteen(colour) : null };
}

function plain(style: Style, code: number): Style {
  if (code === 0) return { colour: null, bold: false };
  if (code === 1 || code === 22) return { ...style, bold: code === 1 };
  if (code === 39) return { ...style, colour: null };
  const base = code >= 90 ? code - 90 : code - 30;
  return base >= 0 && base <= 7 ? { ...style, colour: base } : style;
}

/** One of 256 as one of eight, where it is one of the first sixteen. */
function sixteen(colour: number): number | null {
  return colour < 16 ? colour % 8 : null;
}

/** The eight in two themes, each read on its ground; black and white are the text's own colour. */
export const COLOURS: Record<"light" | "dark", (string | null)[]> = {
  light: [null, "#c4271b", "#1f7a3d", "#8a5a00", "#1557d6", "#8a2f86", "#0b6e78", null],
  dark: [null, "#ff8a7d", "#5cc983", "#e3b341", "#6ea0ff", "#e08fdc", "#56c7d1", null],
};
