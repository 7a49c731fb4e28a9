/** What the server answers when it refuses: a code, its parameters, and the same in words of the reader's language. */

export class Problem extends Error {
  readonly code: string;
  readonly status: number;
  readonly hint: string | null;
  readonly params: Record<string, unknown>;

  constructor(status: number, body: unknown) {
    const told = (typeof body === "object" && body !== null ? body : {}) as Record<string, unknown>;
    super(typeof told.detail === "string" ? told.detail : `HTTP ${status}`);
    this.name = "Problem";
    this.code = typeof told.code === "string" ? told.code : status === 0 ? "server-unreachable" : `http-${status}`;
    this.status = status;
    this.hint = typeof told.hint === "string" && told.hint ? told.hint : null;
    this.params = (told.params ?? {}) as Record<string, unknown>;
  }

  get isUnreachable(): boolean {
    return this.status === 0 || this.status === 502 || this.status === 503 || this.status === 504;
  }
}
