/**
 * A log of any length seen through a window: lines are found by byte offset in pieces that are fetched as they are needed,
 * so ten million lines cost no more than what is on the screen. Offsets are bytes; text is decoded line by line.
 */

export interface Line {
  offset: number;
  end: number;
  text: string;
}

export type Fetch = (offset: number, limit: number) => Promise<{ bytes: Uint8Array; size: number }>;

export const PIECE = 64 << 10;
const KEPT = 64;
/** A line longer than this is shown as several: no line may be larger than a piece. */
const LONGEST = 8 << 10;
const NEWLINE = 10;
/** Lines without a time that may stand between two that tell one, as a traceback does. */
const LOOK_AT = 40;

export class Window {
  size = 0;
  /** Where the window stands. */
  top = 0;
  private readonly pieces = new Map<number, Uint8Array>();
  private readonly decoder = new TextDecoder();

  constructor(private readonly fetch: Fetch) {}

  /** Up to `count` lines that begin at or after `offset`, which is moved to the beginning of its line. */
  async lines(offset: number, count: number): Promise<Line[]> {
    let at = await this.beginning(offset);
    const found: Line[] = [];
    while (found.length < count && at < this.size) {
      const end = await this.ending(at);
      found.push({ offset: at, end, text: await this.text(at, end) });
      at = end;
    }
    return found;
  }

  /** Where the line begins that is `count` lines before the one at `offset`. */
  async before(offset: number, count: number): Promise<number> {
    let at = await this.beginning(offset);
    for (let line = 0; line < count && at > 0; line += 1) at = await this.beginning(at - 1);
    return at;
  }

  /** Where the first line begins that tells a moment of at least `at`; null where no line tells one. Halves the log. */
  async find(at: number, told: (text: string) => number | null): Promise<number | null> {
    let [low, high] = [0, await this.grow()];
    let isTold = false;
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      const lines = await this.lines(middle, LOOK_AT);
      const line = lines.find((one) => one.offset >= low && one.offset < high && told(one.text) !== null);
      isTold ||= line !== undefined;
      if (line && (told(line.text) ?? 0) < at) low = Math.max(line.end, middle);
      else high = middle;
    }
    return isTold ? Math.min(low, this.size) : null;
  }

  /** Where the last `count` lines begin. */
  async tail(count: number): Promise<number> {
    await this.grow();
    return this.size === 0 ? 0 : this.before(this.size - 1, count - 1);
  }

  /** Looks how long it is now; the last piece may have grown. */
  async grow(): Promise<number> {
    const before = this.size;
    if (before % PIECE !== 0 || before === 0) this.pieces.delete(Math.floor(before / PIECE));
    const { size } = await this.fetch(before, 1);
    this.size = size;
    return size;
  }

  private async beginning(offset: number): Promise<number> {
    let at = Math.min(Math.max(0, offset), this.size);
    const least = Math.max(0, at - LONGEST);
    while (at > least) {
      const start = Math.floor((at - 1) / PIECE) * PIECE;
      const found = (await this.piece(start / PIECE)).lastIndexOf(NEWLINE, at - 1 - start);
      if (found >= 0) return Math.max(least, start + found + 1);
      at = start;
    }
    return least;
  }

  private async ending(offset: number): Promise<number> {
    const most = Math.min(this.size, offset + LONGEST);
    for (let at = offset; at < most; ) {
      const start = Math.floor(at / PIECE) * PIECE;
      const found = (await this.piece(start / PIECE)).indexOf(NEWLINE, at - start);
      if (found >= 0) return Math.min(most, start + found + 1);
      at = start + PIECE;
    }
    return most;
  }

  private async text(from: number, to: number): Promise<string> {
    const whole = new Uint8Array(to - from);
    for (let at = from; at < to; ) {
      const number = Math.floor(at / PIECE);
      const piece = await this.piece(number);
      const part = piece.subarray(at - number * PIECE, Math.min(piece.length, to - number * PIECE));
      if (part.length === 0) break;
      whole.set(part, at - from);
      at += part.length;
    }
    return this.decoder.decode(whole).replace(/\n$/, "");
  }

  private async piece(number: number): Promise<Uint8Array> {
    const kept = this.pieces.get(number);
    if (kept) return kept;
    const { bytes, size } = await this.fetch(number * PIECE, PIECE);
    this.size = Math.max(this.size, size);
    this.pieces.set(number, bytes);
    for (const old of this.pieces.keys()) {
      if (this.pieces.size <= KEPT) break;
      this.pieces.delete(old);
    }
    return bytes;
  }
}
