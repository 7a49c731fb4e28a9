/** Draws lanes on a canvas over one axis. Knows nothing of jobs. */

import { STATUS } from "../../design/status";
import { heat, type Ink, type Scheme } from "../../design/tokens";
import type { Axis } from "../../time/axis";
import { fontOf } from "../canvas";
import { density } from "../log/arrivals";
import { bytes } from "../Quantity";
import { heightOf, type Lane, type Point, stack } from "./lanes";

export const LEFT = 150;
export const RIGHT = 60;
export const FOOT = 22;

export interface Sheet {
  context: CanvasRenderingContext2D;
  width: number;
  ink: Ink;
  scheme: Scheme;
  axis: Axis;
}

/** The x of a moment. */
export function xOf(sheet: Pick<Sheet, "axis" | "width">, at: number): number {
  return LEFT + sheet.axis.place(at) * (sheet.width - LEFT - RIGHT);
}

/** The moment under an x. */
export function momentAt(axis: Axis, width: number, x: number): number {
  return axis.at(Math.min(1, Math.max(0, (x - LEFT) / Math.max(1, width - LEFT - RIGHT))));
}

export function drawLanes(sheet: Sheet, lanes: Lane[]): void {
  const { context, width, ink } = sheet;
  const { tops, total } = stack(lanes);
  context.clearRect(0, 0, width, total + FOOT);
  drawFolds(sheet, total);
  lanes.forEach((lane, at) => {
    const top = tops[at] ?? 0;
    context.font = fontOf(context);
    context.textBaseline = "middle";
    context.textAlign = "left";
    context.fillStyle = lane.kind === "heat" && lane.flagged ? ink.bad : ink.quiet;
    context.fillText(clip(context, lane.label, LEFT - 12), 0, top + heightOf(lane) / 2);
    drawLane(sheet, lane, top);
  });
}

function drawLane(sheet: Sheet, lane: Lane, top: number): void {
  if (lane.kind === "band") drawBand(sheet, lane, top);
  else if (lane.kind === "line") drawLine(sheet, lane, top);
  else if (lane.kind === "marks") drawMarks(sheet, lane, top);
  else if (lane.kind === "heat") drawHeat(sheet, lane, top);
  else drawDensity(sheet, lane, top);
}

function drawFolds(sheet: Sheet, total: number): void {
  const { context, ink, axis } = sheet;
  context.strokeStyle = ink.line;
  for (const fold of axis.folded) {
    const [left, right] = [xOf(sheet, fold.from), xOf(sheet, fold.to)];
    context.beginPath();
    for (let x = left; x < right; x += 6) {
      context.moveTo(x, 0);
      context.lineTo(Math.min(right, x + 3), total);
    }
    context.stroke();
  }
}

function drawBand(sheet: Sheet, lane: Extract<Lane, { kind: "band" }>, top: number): void {
  const { context, scheme, ink } = sheet;
  for (const one of lane.stretches) {
    const [left, right] = [xOf(sheet, one.from), xOf(sheet, one.to)];
    const look = STATUS[one.status];
    context.fillStyle = look[scheme];
    context.globalAlpha = one.status === "queued" ? 0.35 : 1;
    context.fillRect(left, top + 2, Math.max(1.5, right - left - 1), heightOf(lane) - 4);
    context.globalAlpha = 1;
    if (right - left < 22) continue;
    context.fillStyle = one.status === "queued" ? ink.text : ink.ground;
    context.textAlign = "center";
    context.fillText(look.icon, (left + right) / 2, top + heightOf(lane) / 2);
  }
}

/** Values that differ by less of themselves are one value. */
const FLAT = 0.005;

function drawLine(sheet: Sheet, lane: Extract<Lane, { kind: "line" }>, top: number): void {
  const { context, ink, width } = sheet;
  const { from, to } = sheet.axis.span;
  const runs = lane.runs.map((run) => run.filter((point) => point.at >= from && point.at <= to));
  const bottom = top + heightOf(lane) - 4;
  context.strokeStyle = ink.line;
  context.strokeRect(LEFT, top + 2, width - LEFT - RIGHT, heightOf(lane) - 6);
  const [low, high] = extent(runs.flat());
  if (low === null || high === null) return;
  const isFlat = high - low <= FLAT * Math.max(Math.abs(high), Math.abs(low));
  const tall = heightOf(lane) - 12;
  const y = (value: number) => bottom - 2 - (isFlat ? tall / 2 : ((value - low) / (high - low)) * tall);
  for (const run of runs) drawRun(sheet, run, y);
  context.fillStyle = ink.quiet;
  context.textAlign = "left";
  context.fillText(brief(high), width - RIGHT + 6, top + 9);
  if (!isFlat) context.fillText(brief(low), width - RIGHT + 6, bottom - 4);
}

/** One attempt's line; a single point as a dot. */
function drawRun(sheet: Sheet, run: Point[], y: (value: number) => number): void {
  const { context, ink } = sheet;
  const [only] = run.length === 1 ? run : [];
  if (only) {
    context.fillStyle = ink.accent;
    context.fillRect(xOf(sheet, only.at) - 2, y(only.value) - 2, 4, 4);
    return;
  }
  context.strokeStyle = ink.accent;
  context.lineWidth = 1.5;
  context.beginPath();
  run.forEach((point, at) => {
    const x = xOf(sheet, point.at);
    if (at === 0) context.moveTo(x, y(point.value));
    else context.lineTo(x, y(point.value));
  });
  context.stroke();
  context.lineWidth = 1;
}

function drawMarks(sheet: Sheet, lane: Extract<Lane, { kind: "marks" }>, top: number): void {
  const { context, ink } = sheet;
  context.strokeStyle = ink.line;
  context.beginPath();
  context.moveTo(LEFT, top + heightOf(lane) - 3);
  context.lineTo(sheet.width - RIGHT, top + heightOf(lane) - 3);
  context.stroke();
  context.textAlign = "center";
  for (const mark of lane.marks) {
    if (mark.at < sheet.axis.span.from || mark.at > sheet.axis.span.to) continue;
    context.fillStyle = ink[mark.tone];
    context.fillText(mark.icon, xOf(sheet, mark.at), top + heightOf(lane) / 2 - 1);
  }
}

function drawHeat(sheet: Sheet, lane: Extract<Lane, { kind: "heat" }>, top: number): void {
  const { context, scheme, ink, width } = sheet;
  const points = lane.points;
  points.forEach((point, at) => {
    const next = points[at + 1]?.at ?? point.at + (point.at - (points[at - 1]?.at ?? point.at) || 1000);
    if (next < sheet.axis.span.from || point.at > sheet.axis.span.to) return;
    const left = Math.floor(xOf(sheet, point.at));
    context.fillStyle = heat(point.value / (lane.top || 1), scheme);
    context.fillRect(left, top + 1, Math.max(1, Math.ceil(xOf(sheet, next)) - left), heightOf(lane) - 2);
  });
  if (!lane.flagged) return;
  context.fillStyle = ink.bad;
  context.textAlign = "left";
  context.fillText("◀", width - RIGHT + 6, top + heightOf(lane) / 2);
}

const COLUMN = 3;

/** A column every few pixels, as tall as the root of what was written: one loud second must not hide the rest. */
function drawDensity(sheet: Sheet, lane: Extract<Lane, { kind: "density" }>, top: number): void {
  const { context, ink, width, axis } = sheet;
  const bottom = top + heightOf(lane) - 3;
  const count = Math.max(1, Math.floor((width - LEFT - RIGHT) / COLUMN));
  const edges = Array.from({ length: count + 1 }, (_, at) => axis.at(at / count));
  const rates = density(lane.grown, edges);
  const most = Math.max(1e-9, ...rates);
  context.fillStyle = ink.quiet;
  rates.forEach((rate, at) => {
    if (rate <= 0) return;
    const tall = Math.max(1, Math.sqrt(rate / most) * (heightOf(lane) - 6));
    context.fillRect(LEFT + at * COLUMN, bottom - tall, COLUMN - 1, tall);
  });
  context.strokeStyle = ink.line;
  context.strokeRect(LEFT, bottom + 0.5, width - LEFT - RIGHT, 0);
  context.fillStyle = ink.bad;
  context.textAlign = "center";
  for (const at of lane.marks) {
    if (at >= axis.span.from && at <= axis.span.to) context.fillText("✕", xOf(sheet, at), top + 8);
  }
  if (rates.some((rate) => rate > 0)) {
    context.fillStyle = ink.quiet;
    context.textAlign = "left";
    context.fillText(`${bytes(most)}/s`, width - RIGHT + 2, top + 9);
  }
}

function extent(points: Point[]): [number | null, number | null] {
  let [low, high]: [number | null, number | null] = [null, null];
  for (const { value } of points) {
    if (low === null || value < low) low = value;
    if (high === null || value > high) high = value;
  }
  return [low, high];
}

function brief(value: number): string {
  return new Intl.NumberFormat("en", { maximumSignificantDigits: 3, notation: "compact" }).format(value);
}

function clip(context: CanvasRenderingContext2D, text: string, width: number): string {
  if (context.measureText(text).width <= width) return text;
  let cut = text.length;
  while (cut > 1 && context.measureText(`${text.slice(0, cut)}…`).width > width) cut -= 1;
  return `${text.slice(0, cut)}…`;
}
