/** The address of what is seen now: a window that moves with the clock becomes one between two moments. Pure. */

type Search = Record<string, unknown>;

const HOUR_MS = 3_600_000;
const HOURS = 6;

/** The search part of an address to give away. `now`: ms since the epoch, by the server's clock. */
export function fixed(path: string, search: Search, now: number): Search {
  const [, area, name] = path.split("/");
  if (area === "nodes" || (area === "cluster" && search.view === "readings")) return windowed(search, now);
  if (area === "usage") return { ...search, month: search.month ?? new Date(now).toISOString().slice(0, 7) };
  if (area === "jobs" && name && !search.t && !search.offset) return { ...search, t: new Date(now).toISOString() };
  return search;
}

function windowed(search: Search, now: number): Search {
  if (search.from) return search;
  const { hours, ...rest } = search;
  const from = now - (typeof hours === "number" ? hours : HOURS) * HOUR_MS;
  return { ...rest, from: new Date(from).toISOString(), to: new Date(now).toISOString() };
}
