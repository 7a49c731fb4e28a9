/** Server-sent events read with fetch, for a browser's own reader cannot send the token in a header. */

export interface Told {
  id: string;
  event: string;
  data: string;
}

/** Takes a stream's text as it comes and gives whole events. */
export class Parser {
  private rest = "";

  feed(text: string): Told[] {
    const blocks = (this.rest + text).replace(/\r\n?/g, "\n").split("\n\n");
    this.rest = blocks.pop() ?? "";
    return blocks.map(read).filter((told): told is Told => told !== null);
  }
}

function read(block: string): Told | null {
  const told: Told = { id: "", event: "message", data: "" };
  const data: string[] = [];
  for (const line of block.split("\n")) {
    const cut = line.indexOf(":");
    if (cut === 0) continue;
    const name = cut < 0 ? line : line.slice(0, cut);
    const value = cut < 0 ? "" : line.slice(cut + 1).replace(/^ /, "");
    if (name === "data") data.push(value);
    else if (name === "id") told.id = value;
    else if (name === "event") told.event = value;
  }
  told.data = data.join("\n");
  return data.length > 0 ? told : null;
}

/** Reads one connection to its end; tells when it is open. Throws when it breaks or is refused. */
export async function readStream(
  url: string,
  headers: Record<string, string>,
  signal: AbortSignal,
  on: { open: () => void; event: (told: Told) => void },
): Promise<void> {
  const response = await fetch(url, { headers: { Accept: "text/event-stream", ...headers }, signal });
  if (!response.ok || !response.body) throw new Error(`stream refused: ${response.status}`);
  on.open();
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  const parser = new Parser();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    for (const told of parser.feed(decoder.decode(value, { stream: true }))) on.event(told);
  }
}
