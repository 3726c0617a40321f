/**
 * The endpoints whose path ends with the name of an event. Clients put the name there unescaped: all that follows is
 * the name, slashes and question marks included, and a broken escape is taken literally. No name is refused:
 * endpoints take a 400 for "the run has ended" (docs/design/runs#statuses).
 */
import { decodedLeniently } from "./wire/text.ts";

const target = /^(\/v2\/(wait|notify|waiters)\/)([^?]+)(?:\?(.*))?$/is;

/** Returns the same target with the name escaped, for the router; undefined for a target without the name of an event. */
export function eventTarget(url: string): string | undefined {
  const [, prefix, kind, path, search] = target.exec(url) ?? [];
  if (prefix === undefined || path === undefined) return undefined;
  const given = search?.split("&") ?? [];
  const tokens = given.filter(isToken);
  const rest = given.filter((parameter) => !isToken(parameter));
  const name = rest.length > 0 ? `${path}?${rest.join("&")}` : path;
  const [, run, event] = (kind?.toLowerCase() === "notify" && inRun.exec(name)) || [];
  const names = run !== undefined && event !== undefined ? [run, event] : [name];
  const escaped = names.map((each) => encodeURIComponent(decodedLeniently(each))).join("/");
  return `${prefix}${escaped}${tokens.length > 0 ? `?${tokens.join("&")}` : ""}`;
}

/** Reports whether a parameter is the caller's token, which may be in the query of each request. */
const isToken = (parameter: string): boolean => parameter.startsWith("qstash_token=");

/** Matches the name of a run and an event for that run alone. */
const inRun = /^([^/?]+)\/(.+)$/s;
