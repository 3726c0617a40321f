/** Configuration in the query of a publish: callers that cannot set headers write `?upstash-retries=3`. */
import { dialectOf, prefixLength } from "../wire/dialects.ts";
import { isConfiguration } from "../headers/table.ts";
import { misspelt } from "../headers/unknown.ts";
import { bytesOfText } from "../wire/text.ts";

export type SplitTarget = {
  /** The target without this service's keys, otherwise byte for byte as it was. */
  readonly text: string;
  /** name, value, name, value …; values decoded like form fields. */
  readonly config: readonly string[];
  readonly token?: string;
};

/**
 * Takes out `qstash_token`, every `upstash-*`, and each `service-*` that is a configuration header or nearly one:
 * `service-id` may be a parameter of the destination, while `service-retires` is a misspelling, which is refused.
 */
export function splitQueryConfig(target: string): SplitTarget {
  const queryAt = target.indexOf("?");
  if (queryAt < 0 || !mayHoldOurs.test(target)) return { text: target, config: [] };
  const kept: string[] = [];
  const config: string[] = [];
  let token: string | undefined;
  let taken = false;
  for (const pair of target.slice(queryAt + 1).split("&")) {
    const equalsAt = pair.indexOf("=");
    const key = equalsAt < 0 ? pair : pair.slice(0, equalsAt);
    const lower = key.toLowerCase();
    if (lower === "qstash_token") token = decode(pair.slice(key.length + 1));
    else if (isOurs(lower)) config.push(key, decode(pair.slice(key.length + 1)));
    else {
      kept.push(pair);
      continue;
    }
    taken = true;
  }
  if (!taken) return { text: target, config: [] };
  const head = target.slice(0, queryAt);
  const text = kept.length === 0 ? head : `${head}?${kept.join("&")}`;
  return { text, config, ...(token !== undefined && { token }) };
}

const mayHoldOurs = /qstash_token|upstash-|service-/i;

function isOurs(lower: string): boolean {
  const dialect = dialectOf(lower);
  if (dialect !== "service") return dialect === "upstash";
  const suffix = lower.slice(prefixLength);
  return isConfiguration(suffix) || misspelt(suffix) !== undefined;
}

/**
 * Decodes a value to what a header would bring. Never throws: broken percent-encoding stays, and is refused with its value.
 */
const decode = (value: string): string =>
  bytesOfText(new URLSearchParams(`v=${value}`).get("v") ?? "");
