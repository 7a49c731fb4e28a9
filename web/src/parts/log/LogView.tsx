/** A rank's output: scrolled by bytes, coloured as on a terminal, followed at its end, with the place of the first fault marked. */

import { Button, Checkbox } from "antd";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { SAVED } from "../../api/logs";
import { useScheme } from "../../design/scheme";
import { useWords } from "../../i18n/words";
import type { Point } from "../axis/lanes";
import { bytes } from "../Quantity";
import { Failed } from "../states";
import { COLOURS, pieces } from "./ansi";
import { bytesAt, momentOf } from "./arrivals";
import { Rail } from "./Rail";
import { stampOf } from "./stamps";
import { type Fetch, type Line, Window } from "./window";

const HEIGHT = 420;
const ROW = 18;
const ROWS = Math.floor(HEIGHT / ROW) - 1;
const FOLLOW_MS = 2000;

interface Props {
  source: Fetch;
  /** Where to begin; null: at the moment, or else at the end. */
  offset: number | null;
  moment: number | null;
  marks: number[];
  /** When its bytes came: for lines that tell no time of their own. */
  grown: Point[];
  isGrowing: boolean;
  /** Bytes it is known to have: where it was seen shorter, it is looked at again. */
  known: number;
  onLine: (line: Line, at: number | null) => void;
  save: () => void;
}

export function LogView({ source, offset, moment, marks, grown, isGrowing, known, onLine, save }: Props) {
  const { t } = useWords();
  const window = useMemo(() => new Window(source), [source]);
  const view = useLines(window, { offset, moment, grown }, { isGrowing, known });
  const box = useRef<HTMLElement>(null);
  useWheel(box, view.move);
  const keys = (event: React.KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: ROWS - 2, PageUp: 2 - ROWS }[event.key];
    if (step) view.move(step);
    else if (event.key === "Home") view.jump(0);
    else if (event.key === "End") view.follow(true);
    else return;
    event.preventDefault();
  };
  if (view.error) return <Failed error={view.error} retry={view.retry} />;
  return (
    <>
      <div className="spread">
        <span className="quiet number">
          {bytes(view.top)} / {bytes(view.size)}
        </span>
        <span className="row">
          {marks.length > 0 ? (
            <Button size="small" onClick={() => view.jump(marks[0] ?? 0)}>
              {t("log.first-fault")}
            </Button>
          ) : null}
          <Checkbox checked={view.following} onChange={(event) => view.follow(event.target.checked)}>
            {t("log.follow")}
          </Checkbox>
          <Button size="small" onClick={save}>
            {view.size > SAVED ? t("log.newest", { size: bytes(SAVED) }) : t("action.download")}
          </Button>
        </span>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled by keys */}
      <section className="log mono" ref={box} aria-label={t("log.label")} tabIndex={0} onKeyDown={keys}>
        <ol>
          {view.lines.map((line) => (
            <Shown
              key={line.offset}
              line={line}
              isMarked={marks.some((at) => at >= line.offset && at < line.end)}
              onLine={(one) => onLine(one, stampOf(one.text) ?? momentOf(grown, one.end))}
            />
          ))}
          {view.size === 0 && view.isLoaded ? <li className="quiet">{t("log.empty")}</li> : null}
        </ol>
        <Rail top={view.top} size={view.size} shown={view.shown} marks={marks} jump={view.jump} />
      </section>
    </>
  );
}

function Shown({ line, isMarked, onLine }: { line: Line; isMarked: boolean; onLine: (line: Line) => void }) {
  const { scheme } = useScheme();
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: a pointer's shortcut; the crosshair is set by keys on the axis
    <li className={isMarked ? "marked" : undefined} onClick={() => onLine(line)}>
      {pieces(line.text).map((piece, at) => {
        const colour = piece.colour === null ? null : COLOURS[scheme][piece.colour];
        if (!colour && !piece.bold) return <span key={at}>{piece.text}</span>;
        return (
          <span key={at} style={{ color: colour ?? undefined, fontWeight: piece.bold ? 600 : undefined }}>
            {piece.text}
          </span>
        );
      })}
    </li>
  );
}

interface Place {
  lines: Line[];
  top: number;
  size: number;
  isLoaded: boolean;
}

/** The lines in the window, and ways to move it. Moves happen one after another; what is late gives way. */
interface Begin {
  offset: number | null;
  moment: number | null;
  grown: Point[];
}

interface Growth {
  isGrowing: boolean;
  known: number;
}

function useLines(window: Window, { offset, moment, grown }: Begin, { isGrowing, known }: Growth) {
  const [place, setPlace] = useState<Place>({ lines: [], top: 0, size: 0, isLoaded: false });
  const [error, setError] = useState<unknown>(null);
  const [following, setFollowing] = useState(offset === null && moment === null);
  const arrived = useRef(grown);
  arrived.current = grown;
  const turn = useRef(Promise.resolve());
  const latest = useRef(0);
  const seen = useRef<Line[]>([]);
  const run = useCallback(
    (find: (top: number) => Promise<number>) => {
      const number = ++latest.current;
      turn.current = turn.current.then(async () => {
        if (number < latest.current - 8) return;
        try {
          const top = await find(window.top);
          window.top = top;
          const lines = await window.lines(top, ROWS);
          seen.current = lines;
          setPlace({ lines, top: lines[0]?.offset ?? top, size: window.size, isLoaded: true });
          setError(null);
        } catch (cause) {
          setError(cause);
        }
      });
    },
    [window],
  );
  const toEnd = useCallback(() => run(() => window.tail(ROWS)), [run, window]);
  const jump = useCallback(
    (at: number) => {
      setFollowing(false);
      run(() => window.before(at, at > 0 ? 3 : 0));
    },
    [run, window],
  );
  const start = useCallback(() => {
    // A line that is seen is not moved under the pointer.
    if (offset !== null && seen.current.some((line) => offset >= line.offset && offset < line.end)) return;
    if (offset === null && moment === null) toEnd();
    else if (offset === null)
      run(async () => {
        const told = await window.find(moment ?? 0, stampOf);
        const found = told ?? (arrived.current.length > 0 ? Math.floor(bytesAt(arrived.current, moment ?? 0)) : null);
        return found === null ? window.tail(ROWS) : window.before(found, 3);
      });
    else
      run(async () => {
        await window.grow();
        return window.before(offset, 3);
      });
  }, [offset, moment, run, toEnd, window]);
  useEffect(() => {
    setFollowing(offset === null && moment === null);
    start();
  }, [start, offset, moment]);
  useEffect(() => {
    if (!following || !isGrowing) return;
    const timer = setInterval(toEnd, FOLLOW_MS);
    return () => clearInterval(timer);
  }, [following, isGrowing, toEnd]);
  const isBehind = following && known > place.size;
  useEffect(() => {
    if (isBehind && place.isLoaded) toEnd();
  }, [isBehind, place.isLoaded, toEnd]);
  const move = useCallback(
    (by: number) => {
      setFollowing(false);
      run(async (top) => {
        if (by < 0) return window.before(top, -by);
        const ahead = await window.lines(top, by + 1);
        const last = await window.before(window.size > 0 ? window.size - 1 : 0, ROWS - 1);
        return Math.min(ahead[ahead.length - 1]?.offset ?? top, Math.max(last, top));
      });
    },
    [run, window],
  );
  const follow = (wish: boolean) => {
    setFollowing(wish);
    if (wish) toEnd();
  };
  const last = place.lines[place.lines.length - 1];
  return { ...place, shown: last ? last.end - place.top : 0, error, following, jump, move, follow, retry: start };
}

function useWheel(box: React.RefObject<HTMLElement | null>, move: (by: number) => void): void {
  useEffect(() => {
    const at = box.current;
    if (!at) return;
    let rest = 0;
    const turned = (event: WheelEvent) => {
      if (event.ctrlKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) return;
      event.preventDefault();
      rest += event.deltaMode === 1 ? event.deltaY : event.deltaY / ROW;
      const whole = Math.trunc(rest);
      rest -= whole;
      if (whole !== 0) move(whole);
    };
    at.addEventListener("wheel", turned, { passive: false });
    return () => at.removeEventListener("wheel", turned);
  }, [box, move]);
}
