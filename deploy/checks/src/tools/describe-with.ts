/** Suites that need a program which a host may lack. */
import { describe } from "@jest/globals";
import { onPath } from "@posthaste/local/cache";

/** Building a tool takes minutes of CPU, once a host. */
export const buildMsMax = 20 * 60_000;

/** Skips the suite where a program is missing, with the reason in its name. With CI=true `npm test` counts a skipped suite as failed. */
export function describeWith(programs: readonly string[], title: string, body: () => void): void {
  const missing = programs.filter((name) => onPath(name) === undefined);
  if (missing.length === 0) describe(title, body);
  else describe.skip(`${title} (not checked: this host has no ${missing.join(" and no ")})`, body);
}
