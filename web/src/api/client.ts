/** The API, typed by the server's own schema. Every call carries the token and the reader's language. */

import createClient, { type Middleware } from "openapi-fetch";
import { firstLanguage } from "../i18n/words";
import { learnClock } from "../time/now";
import { Problem } from "./problem";
import type { components, paths } from "./schema.gen";
import { signOut, token } from "./session";
import { whole } from "./whole";

export type Schemas = components["schemas"];

const signing: Middleware = {
  onRequest({ request }) {
    const mine = token();
    if (mine && !request.headers.has("Authorization")) request.headers.set("Authorization", `Bearer ${mine}`);
    request.headers.set("Accept-Language", firstLanguage());
    return request;
  },
  onResponse({ response }) {
    learnClock(response.headers.get("Date"));
  },
};

export const api = createClient<paths>({
  baseUrl: typeof location === "undefined" ? "" : location.origin,
  fetch: (request) => fetch(request),
});
api.use(signing, whole);

interface Answer<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** The data of an answer. Raises a `Problem`; one that says the token opens nothing signs out. */
export async function take<T>(call: Promise<Answer<T>>): Promise<T> {
  const { data, error, response } = await call.catch((cause: unknown) => {
    if (cause instanceof DOMException && cause.name === "AbortError") throw cause;
    throw new Problem(0, { detail: String(cause) });
  });
  if (response.ok) return data as T;
  const problem = new Problem(response.status, error);
  if (problem.code === "not-logged-in" && token()) signOut("ended");
  throw problem;
}

/** A download of a path of the API, with the token in its header and never in an address. */
export async function download(path: string, name: string): Promise<void> {
  const response = await fetch(path, { headers: { Authorization: `Bearer ${token() ?? ""}` } }).catch(() => null);
  if (!response) throw new Problem(0, {});
  if (!response.ok) throw new Problem(response.status, await response.json().catch(() => null));
  const url = URL.createObjectURL(await response.blob());
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
