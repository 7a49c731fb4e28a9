/** A cell per card: where it is on the sheet, and what it shows through each lens. Pure. */

import type { Schemas } from "../../api/client";

export type Lens = "occupancy" | "utilisation" | "health";
type NodeView = Schemas["NodeView"];

export interface Cell {
  node: string;
  device: number;
  attempt: string | null;
  /** Taken by others than Headway. */
  isForeign: boolean;
  state: Schemas["NodeState"];
  level: Schemas["Level"] | null;
  /** Percent; null: no reading. */
  use: number | null;
}

export interface Block {
  name: string;
  cells: Cell[];
}

export interface Group {
  title: string;
  blocks: Block[];
}

const LABELS = ["switch", "rack", "zone"];

/** Nodes by pool and, where they are labelled, by rack or switch. */
export function groups(views: NodeView[], uses: Map<string, number>, levels: Map<string, Schemas["Level"]>): Group[] {
  const found = new Map<string, Block[]>();
  for (const view of [...views].sort((a, b) => byName(a.node.name, b.node.name))) {
    const { node } = view;
    const place = LABELS.map((label) => node.labels?.[label]).find(Boolean);
    const title = [`${node.engine} · ${node.device_type}`, ...(place ? [place] : [])].join(" · ");
    found.set(title, [...(found.get(title) ?? []), { name: node.name, cells: cellsOf(view, uses, levels) }]);
  }
  return [...found].sort(([a], [b]) => a.localeCompare(b)).map(([title, blocks]) => ({ title, blocks }));
}

const byName = new Intl.Collator("en", { numeric: true }).compare;

function cellsOf(view: NodeView, uses: Map<string, number>, levels: Map<string, Schemas["Level"]>): Cell[] {
  const { node, taken, occupied } = view;
  let foreign = occupied.reduce((sum, one) => sum + one.devices, 0);
  return Array.from({ length: node.devices }, (_, device) => {
    const attempt = taken[String(device)] ?? null;
    const isForeign = attempt === null && foreign > 0;
    if (isForeign) foreign -= 1;
    return {
      node: node.name,
      device,
      attempt,
      isForeign,
      state: node.state ?? "up",
      level: levels.get(node.name) ?? null,
      use: uses.get(`${node.name} ${device}`) ?? null,
    };
  });
}

export type Look = "idle" | "busy" | "foreign" | "wasted" | "out" | "suspect" | "watch" | "unknown" | { share: number };

const WASTED_PERCENT = 5;

/** What a cell shows through a lens. Unknown is hatched, never good; held and not computing is a pattern of its own. */
export function lookOf(cell: Cell, lens: Lens): Look {
  if (cell.state === "unknown") return "unknown";
  if (lens === "health") return healthOf(cell);
  if (cell.state !== "up" && cell.attempt === null) return "out";
  if (lens === "utilisation") return loadOf(cell);
  if (cell.attempt !== null) return "busy";
  return cell.isForeign ? "foreign" : "idle";
}

/** A node that is suspect shows so even when it was closed for it. */
function healthOf(cell: Cell): Look {
  if (cell.level !== null && cell.level !== "normal") return cell.level;
  if (cell.state !== "up") return "out";
  return cell.level === null ? "unknown" : "idle";
}

function loadOf(cell: Cell): Look {
  if (cell.use === null) return "unknown";
  return cell.attempt !== null && cell.use < WASTED_PERCENT ? "wasted" : { share: cell.use / 100 };
}

export interface Placed {
  cell: Cell;
  x: number;
  y: number;
}

export interface Sheet {
  cells: Placed[];
  titles: { text: string; y: number }[];
  names: { text: string; x: number; y: number }[];
  height: number;
}

export const SIDE = 12;
const STEP = SIDE + 2;
const TITLE = 26;
const NAME = 14;
const SPACE = 10;
const ACROSS = 8;
const LETTER = 6.2;

/** Cells of a node stand eight to a row, nodes beside one another as far as the width allows. */
export function layOut(all: Group[], width: number): Sheet {
  const sheet: Sheet = { cells: [], titles: [], names: [], height: 0 };
  let y = 0;
  for (const group of all) {
    sheet.titles.push({ text: group.title, y: y + TITLE / 2 });
    y += TITLE;
    let x = 0;
    let tallest = 0;
    for (const block of group.blocks) {
      const across = Math.min(ACROSS, Math.max(1, block.cells.length));
      const wide = Math.max(across * STEP, Math.min(block.name.length * LETTER, ACROSS * STEP)) + SPACE;
      const tall = Math.ceil(block.cells.length / ACROSS) * STEP + NAME + SPACE;
      if (x > 0 && x + wide > width) {
        x = 0;
        y += tallest;
        tallest = 0;
      }
      sheet.names.push({ text: block.name, x, y: y + NAME / 2 });
      block.cells.forEach((cell, at) => {
        sheet.cells.push({ cell, x: x + (at % ACROSS) * STEP, y: y + NAME + Math.floor(at / ACROSS) * STEP });
      });
      x += wide;
      tallest = Math.max(tallest, tall);
    }
    y += tallest;
  }
  sheet.height = y;
  return sheet;
}

/** The cell under a point. */
export function cellAt(sheet: Sheet, x: number, y: number): Cell | null {
  const found = sheet.cells.find((one) => x >= one.x && x < one.x + SIDE && y >= one.y && y < one.y + SIDE);
  return found?.cell ?? null;
}
