/** The moment that a log line tells of itself, where it does. Pure. */

const STAMP = /(\d{4})[-/](\d\d)[-/](\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,6}))?\s?(Z|[+-]\d\d:?\d\d)?/;

/** Ms since the epoch; without an offset the time is taken as the viewer's. Null where no full date is in the line's head. */
export function stampOf(line: string): number | null {
  const found = STAMP.exec(line.slice(0, 200));
  if (!found) return null;
  const [, year, month, day, hour, minute, second, fraction, zone] = found;
  const text = `${year}-${month}-${day}T${hour}:${minute}:${second}.${(fraction ?? "0").slice(0, 3).padEnd(3, "0")}`;
  const at = Date.parse(zone ? text + (zone.length === 5 ? `${zone.slice(0, 3)}:${zone.slice(3)}` : zone) : text);
  return Number.isNaN(at) ? null : at;
}
