/** One time axis: everything below it shares the crosshair and the window. Click sets the crosshair, drag zooms. */

import { useEffect, useMemo, useRef, useState } from "react";
import { useScheme } from "../../design/scheme";
import type { Ink } from "../../design/tokens";
import { useWords } from "../../i18n/words";
import { type Axis, makeAxis, type Span } from "../../time/axis";
import { clock, moment } from "../../time/durations";
import { ticks } from "../../time/ticks";
import { figure } from "../Quantity";
import { drawLanes, FOOT, LEFT, momentAt, RIGHT, xOf } from "./draw";
import { type Lane, stack, valueAt } from "./lanes";

interface Props {
  span: Span;
  idle: Span[];
  lanes: Lane[];
  cross: number | null;
  onCross: (at: number) => void;
  onWindow: (span: Span) => void;
}

const LEAST_DRAG = 8;
const TICK = 90;

export function TimeAxis({ span, idle, lanes, cross, onCross, onWindow }: Props) {
  const { t } = useWords();
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const width = useWidth(box);
  const { ink, scheme } = useScheme();
  const axis = useMemo(() => makeAxis(span, idle), [span, idle]);
  const { total } = stack(lanes);
  useEffect(() => {
    const context = prepare(canvas.current, width, total + FOOT);
    if (!context) return;
    drawLanes({ context, width, ink, scheme, axis }, lanes);
    drawFoot(context, axis, width, total, ink);
  }, [width, ink, scheme, axis, lanes, total]);
  const [over, setOver] = useState<number | null>(null);
  const [drag, setDrag] = useState<number | null>(null);
  const at = (event: React.PointerEvent) => event.clientX - (box.current?.getBoundingClientRect().left ?? 0);
  const released = (event: React.PointerEvent) => {
    const [from, to] = [drag ?? at(event), at(event)].sort((a, b) => a - b) as [number, number];
    setDrag(null);
    if (to - from < LEAST_DRAG) return onCross(momentAt(axis, width, to));
    onWindow({ from: momentAt(axis, width, from), to: momentAt(axis, width, to) });
  };
  const shown = over !== null ? momentAt(axis, width, over) : cross;
  return (
    <div
      ref={box}
      role="img"
      aria-label={t("axis.label", { from: moment(span.from), to: moment(span.to) })}
      style={{ position: "relative", cursor: "crosshair", touchAction: "pan-y" }}
      onPointerMove={(event) => setOver(at(event))}
      onPointerLeave={() => setOver(null)}
      onPointerDown={(event) => setDrag(at(event))}
      onPointerUp={released}
    >
      <canvas ref={canvas} style={{ width: "100%", height: total + FOOT, display: "block" }} />
      {shown !== null && shown >= span.from && shown <= span.to ? (
        <Cross x={xOf({ axis, width }, shown)} at={shown} lanes={lanes} width={width} />
      ) : null}
      {drag !== null && over !== null ? (
        <div
          style={{
            position: "absolute",
            top: 0,
            bottom: FOOT,
            left: Math.min(drag, over),
            width: Math.abs(over - drag),
            background: ink.accent,
            opacity: 0.15,
          }}
        />
      ) : null}
    </div>
  );
}

/** The crosshair with the values under it. */
function Cross({ x, at, lanes, width }: { x: number; at: number; lanes: Lane[]; width: number }) {
  const { language } = useWords();
  const values = lanes.flatMap((lane) => {
    if (lane.kind !== "line") return [];
    const found = valueAt(lane.runs.flat(), at);
    return found ? [`${lane.label} ${figure(found.value, 4, language)}`] : [];
  });
  const near = lanes
    .flatMap((lane) => (lane.kind === "marks" ? lane.marks : []))
    .filter((mark) => Math.abs(mark.at - at) < 1500);
  const isRight = x > width / 2;
  return (
    <div
      style={{
        position: "absolute",
        top: 0,
        bottom: FOOT,
        left: x,
        borderLeft: "1px solid var(--text)",
        pointerEvents: "none",
      }}
    >
      <div
        className="number"
        style={{
          position: "absolute",
          top: 0,
          [isRight ? "right" : "left"]: 4,
          background: "var(--raised)",
          border: "1px solid var(--line)",
          padding: "2px 6px",
          borderRadius: 4,
          zIndex: 2,
        }}
      >
        {clock(new Date(at))} {values.join(" · ")}
        {near.slice(0, 4).map((mark) => (
          <div key={mark.text}>
            {mark.icon} {mark.text}
          </div>
        ))}
      </div>
    </div>
  );
}

function drawFoot(context: CanvasRenderingContext2D, axis: Axis, width: number, top: number, ink: Ink): void {
  context.fillStyle = ink.quiet;
  context.textBaseline = "middle";
  context.textAlign = "center";
  for (const { at, label } of ticks(axis, TICK / Math.max(1, width - LEFT - RIGHT))) {
    context.fillText(label, xOf({ axis, width }, at), top + FOOT / 2);
  }
}

function prepare(canvas: HTMLCanvasElement | null, width: number, height: number): CanvasRenderingContext2D | null {
  const context = canvas?.getContext?.("2d");
  if (!canvas || !context || width === 0) return null;
  const ratio = window.devicePixelRatio || 1;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

/** The width of an element in CSS pixels, as it changes. */
export function useWidth(box: React.RefObject<HTMLElement | null>): number {
  const [width, set] = useState(0);
  useEffect(() => {
    if (!box.current || typeof ResizeObserver === "undefined") return;
    const observer = new ResizeObserver(([entry]) => set(Math.floor(entry?.contentRect.width ?? 0)));
    observer.observe(box.current);
    return () => observer.disconnect();
  }, [box]);
  return width;
}
