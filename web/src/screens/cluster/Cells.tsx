/** The sheet of cells on a canvas: only what is on the screen is drawn. Hover tells, click opens the node. */

import { useNavigate } from "@tanstack/react-router";
import { useEffect, useMemo, useRef, useState } from "react";
import { useScheme } from "../../design/scheme";
import { heat, type Ink, type Scheme } from "../../design/tokens";
import { useWords } from "../../i18n/words";
import { useWidth } from "../../parts/axis/TimeAxis";
import { fontOf } from "../../parts/canvas";
import { type Cell, cellAt, type Group, type Lens, type Look, layOut, lookOf, type Sheet, SIDE } from "./cells";

interface Props {
  all: Group[];
  lens: Lens;
  job: string | null;
}

const HEIGHT = 560;
const LENSES: Record<Lens, Exclude<Look, object>[]> = {
  occupancy: ["busy", "foreign", "idle", "out", "unknown"],
  utilisation: ["wasted", "out", "unknown"],
  health: ["idle", "watch", "suspect", "out", "unknown"],
};

export function Cells({ all, lens, job }: Props) {
  const { t } = useWords();
  const navigate = useNavigate();
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const width = useWidth(box);
  const { ink, scheme } = useScheme();
  const sheet = useMemo(() => layOut(all, width), [all, width]);
  const height = Math.min(HEIGHT, sheet.height);
  const [under, setUnder] = useState<Cell | null>(null);
  useEffect(() => {
    const at = box.current;
    if (!at || !canvas.current) return;
    let frame = 0;
    const draw = () => {
      frame = 0;
      if (canvas.current)
        drawSheet(canvas.current, sheet, { width, height, top: at.scrollTop, ink, scheme, lens, job });
    };
    const soon = () => {
      frame ||= requestAnimationFrame(draw);
    };
    draw();
    at.addEventListener("scroll", soon, { passive: true });
    return () => {
      at.removeEventListener("scroll", soon);
      cancelAnimationFrame(frame);
    };
  }, [sheet, width, height, ink, scheme, lens, job]);
  const find = (event: React.PointerEvent | React.MouseEvent) => {
    const { left, top } = canvas.current?.getBoundingClientRect() ?? { left: 0, top: 0 };
    return cellAt(sheet, event.clientX - left, event.clientY - top + (box.current?.scrollTop ?? 0));
  };
  return (
    <>
      <Legend looks={LENSES[lens]} lens={lens} />
      <div className="quiet number" role="status" style={{ minHeight: 22 }}>
        {under ? <Told cell={under} /> : t("cluster.hover")}
      </div>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the table view is the same for keys */}
      <div
        ref={box}
        role="img"
        aria-label={t("cluster.label", { count: sheet.cells.length })}
        style={{ height, overflowY: "auto", cursor: under ? "pointer" : "default" }}
        onPointerMove={(event) => setUnder(find(event))}
        onPointerLeave={() => setUnder(null)}
        onClick={(event) => {
          const cell = find(event);
          if (cell) void navigate({ to: "/nodes/$node", params: { node: cell.node } });
        }}
      >
        <div style={{ height: sheet.height, position: "relative" }}>
          <canvas ref={canvas} style={{ position: "sticky", top: 0, width: "100%", height, display: "block" }} />
        </div>
      </div>
    </>
  );
}

function Told({ cell }: { cell: Cell }) {
  const { t } = useWords();
  const parts = [
    `${cell.node} · ${t("unit.card")} ${cell.device}`,
    cell.attempt ?? (cell.isForeign ? t("look.foreign") : t("look.idle")),
    t(`node.${cell.state}`),
    cell.use === null ? t("cluster.no-reading") : `${Math.round(cell.use)} %`,
  ];
  return <>{parts.join(" · ")}</>;
}

function Legend({ looks, lens }: { looks: Exclude<Look, object>[]; lens: Lens }) {
  const { t } = useWords();
  const { ink, scheme } = useScheme();
  return (
    <div className="row quiet">
      {looks.map((look) => (
        <span key={look} className="row" style={{ gap: 4 }}>
          <Swatch look={look} ink={ink} scheme={scheme} />
          {t(lens === "health" && look === "idle" ? "look.normal" : `look.${look}`)}
        </span>
      ))}
      {lens === "utilisation" ? (
        <span className="row" style={{ gap: 4 }}>
          0 %
          {[0, 0.25, 0.5, 0.75, 1].map((share) => (
            <Swatch key={share} look={{ share }} ink={ink} scheme={scheme} />
          ))}
          100 %
        </span>
      ) : null}
    </div>
  );
}

function Swatch({ look, ink, scheme }: { look: Look; ink: Ink; scheme: Scheme }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const context = canvas.current?.getContext?.("2d");
    if (context) drawCell(context, 1, 1, look, { ink, scheme });
  }, [look, ink, scheme]);
  return <canvas ref={canvas} width={SIDE + 2} height={SIDE + 2} />;
}

interface Wanted {
  width: number;
  height: number;
  top: number;
  ink: Ink;
  scheme: Scheme;
  lens: Lens;
  job: string | null;
}

function drawSheet(canvas: HTMLCanvasElement, sheet: Sheet, wanted: Wanted): void {
  const context = canvas.getContext?.("2d");
  if (!context || wanted.width === 0) return;
  const { width, height, top, lens, job } = wanted;
  const ratio = window.devicePixelRatio || 1;
  if (canvas.width !== width * ratio || canvas.height !== height * ratio) {
    canvas.width = width * ratio;
    canvas.height = height * ratio;
  }
  context.setTransform(ratio, 0, 0, ratio, 0, -top * ratio);
  context.clearRect(0, top, width, height);
  drawWords(context, sheet, wanted);
  for (const { cell, x, y } of sheet.cells) {
    if (!isSeen(y, wanted)) continue;
    context.globalAlpha = job && !cell.attempt?.startsWith(`${job}.`) ? 0.2 : 1;
    drawCell(context, x, y, lookOf(cell, lens), wanted);
  }
  context.globalAlpha = 1;
}

function isSeen(y: number, { top, height }: Wanted): boolean {
  return y > top - 40 && y < top + height + 40;
}

function drawWords(context: CanvasRenderingContext2D, sheet: Sheet, wanted: Wanted): void {
  context.textBaseline = "middle";
  context.font = fontOf(context, 13, 600);
  context.fillStyle = wanted.ink.text;
  for (const title of sheet.titles) if (isSeen(title.y, wanted)) context.fillText(title.text, 0, title.y);
  context.font = fontOf(context, 11);
  context.fillStyle = wanted.ink.quiet;
  for (const name of sheet.names) if (isSeen(name.y, wanted)) context.fillText(name.text.slice(0, 18), name.x, name.y);
}

/** Every look has a shape of its own, not a colour alone. */
function drawCell(
  context: CanvasRenderingContext2D,
  x: number,
  y: number,
  look: Look,
  of: { ink: Ink; scheme: Scheme },
): void {
  const { ink, scheme } = of;
  if (typeof look === "object") {
    context.fillStyle = heat(look.share, scheme);
    context.fillRect(x, y, SIDE, SIDE);
    return;
  }
  const tone = {
    busy: ink.accent,
    foreign: ink.quiet,
    wasted: ink.warn,
    suspect: ink.bad,
    watch: ink.warn,
    out: ink.quiet,
  }[look as string];
  context.strokeStyle = tone ?? ink.quiet;
  context.fillStyle = tone ?? ink.line;
  if (look === "busy" || look === "suspect") context.fillRect(x, y, SIDE, SIDE);
  else context.strokeRect(x + 0.5, y + 0.5, SIDE - 1, SIDE - 1);
  if (look === "foreign" || look === "wasted" || look === "watch") context.fillRect(x, y + SIDE / 2, SIDE, SIDE / 2);
  if (look === "unknown" || look === "out") drawStrokes(context, x, y, look === "out");
}

function drawStrokes(context: CanvasRenderingContext2D, x: number, y: number, isCross: boolean): void {
  context.beginPath();
  if (isCross) {
    context.moveTo(x, y);
    context.lineTo(x + SIDE, y + SIDE);
    context.moveTo(x + SIDE, y);
    context.lineTo(x, y + SIDE);
  } else {
    for (let at = 4; at <= 2 * SIDE - 4; at += 4) {
      context.moveTo(x + Math.max(0, at - SIDE), y + Math.min(at, SIDE));
      context.lineTo(x + Math.min(at, SIDE), y + Math.max(0, at - SIDE));
    }
  }
  context.stroke();
}
