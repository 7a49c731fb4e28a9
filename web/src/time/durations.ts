/** Lengths of time and moments in words: two units at most, the viewer's zone, the offset shown. Pure. */

import type { Language } from "../i18n/words";

const UNITS: [number, string, string][] = [
  [86400, "天", "d"],
  [3600, "小时", "h"],
  [60, "分", "m"],
  [1, "秒", "s"],
];

/** Seconds of an ISO 8601 duration, as the server writes a timedelta; null for what is none. */
export function isoSeconds(text: string): number | null {
  const found = /^(-)?P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?)?$/.exec(text);
  if (!found || text === "P") return null;
  const [, sign, days, hours, minutes, seconds] = found;
  const total =
    Number(days ?? 0) * 86400 + Number(hours ?? 0) * 3600 + Number(minutes ?? 0) * 60 + Number(seconds ?? 0);
  return sign ? -total : total;
}

/** "3 天 4 小时" or "3d 4h"; below a second it is 0 seconds. */
export function duration(seconds: number, language: Language): string {
  let rest = Math.max(0, Math.floor(seconds));
  const parts: string[] = [];
  for (const [size, zh, en] of UNITS) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) parts.push(language === "zh" ? `${count} ${zh}` : `${count}${en}`);
    else if (parts.length > 0) break;
    if (parts.length === 2) break;
  }
  return parts.join(" ") || (language === "zh" ? "0 秒" : "0s");
}

/** A moment with its offset: "2026-12-01 03:12:07 +08:00". */
export function moment(at: string | number | Date): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return "—";
  return `${day(date)} ${clock(date)} ${offset(date)}`;
}

/** "03:12" of a moment today, "11-30 03:12" of another day, "2027-03-01 03:12" of another year. */
export function shortMoment(at: string | number | Date, now: Date): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return "—";
  const short = clock(date).slice(0, 5);
  if (day(date) === day(now)) return short;
  return `${date.getFullYear() === now.getFullYear() ? monthDay(date) : day(date)} ${short}`;
}

/** From one moment to another; the day is told once where it is the same: "12-02 02:34–11:14". */
export function span(from: string | number | Date, to: string | number | Date, now: Date): string {
  const [first, last] = [shortMoment(from, now), shortMoment(to, now)];
  if (first === last) return first;
  const sameDay = day(new Date(from)) === day(new Date(to));
  return `${first}–${sameDay ? clock(new Date(to)).slice(0, 5) : last}`;
}

/** "03:12:07". */
export function clock(date: Date): string {
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(":");
}

/** "12-01". */
export function monthDay(date: Date): string {
  return day(date).slice(5);
}

function day(date: Date): string {
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

function offset(date: Date): string {
  const minutes = -date.getTimezoneOffset();
  const whole = Math.abs(minutes);
  return `${minutes < 0 ? "-" : "+"}${two(Math.floor(whole / 60))}:${two(whole % 60)}`;
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}
