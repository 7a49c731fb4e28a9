/** One time axis whose long idle gaps take a fixed small part: two days in a queue must not squash ten minutes of failure. Pure. */

export interface Span {
  from: number;
  to: number;
}

export interface Axis {
  /** Where on the axis, 0 to 1, a moment is (ms since the epoch). */
  place(at: number): number;
  /** The moment at a place. */
  at(place: number): number;
  span: Span;
  folded: Span[];
}

interface Piece extends Span {
  start: number;
  width: number;
}

const GAP_SHARE = 0.1;
const FOLDED_WIDTH = 0.04;

/** An axis over `span`; each idle gap longer than a tenth of it is folded to a narrow band. */
export function makeAxis(span: Span, idle: Span[]): Axis {
  const length = Math.max(1, span.to - span.from);
  const gaps = clip(idle, span);
  const busy = length - gaps.reduce((sum, gap) => sum + gap.to - gap.from, 0);
  const folded = busy > 0 ? gaps.filter((gap) => gap.to - gap.from > length * GAP_SHARE) : [];
  const pieces = piecesOf(span, folded);
  return {
    span,
    folded,
    place: (at) => {
      const piece = pieces.find((one) => at <= one.to) ?? pieces[pieces.length - 1];
      if (!piece) return 0;
      const inside = (at - piece.from) / Math.max(1, piece.to - piece.from);
      return piece.start + Math.min(1, Math.max(0, inside)) * piece.width;
    },
    at: (place) => {
      const piece = pieces.find((one) => place <= one.start + one.width) ?? pieces[pieces.length - 1];
      if (!piece) return span.from;
      const inside = piece.width === 0 ? 0 : (place - piece.start) / piece.width;
      return piece.from + Math.min(1, Math.max(0, inside)) * (piece.to - piece.from);
    },
  };
}

function clip(idle: Span[], span: Span): Span[] {
  return idle
    .map((gap) => ({ from: Math.max(gap.from, span.from), to: Math.min(gap.to, span.to) }))
    .filter((gap) => gap.to > gap.from)
    .sort((a, b) => a.from - b.from);
}

function piecesOf(span: Span, folded: Span[]): Piece[] {
  const busy = span.to - span.from - folded.reduce((sum, gap) => sum + gap.to - gap.from, 0);
  const wide = 1 - folded.length * FOLDED_WIDTH;
  const pieces: Piece[] = [];
  let place = 0;
  const add = (from: number, to: number, width: number) => {
    if (to <= from) return;
    pieces.push({ from, to, start: place, width });
    place += width;
  };
  let from = span.from;
  for (const gap of folded) {
    add(from, gap.from, (wide * (gap.from - from)) / Math.max(1, busy));
    add(gap.from, gap.to, FOLDED_WIDTH);
    from = gap.to;
  }
  add(from, span.to, (wide * (span.to - from)) / Math.max(1, busy));
  return pieces;
}
