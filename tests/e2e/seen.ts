/** Records which answers of docs/openapi.json the suites of a run have seen, for the suite that follows them. */
import { appendFileSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const variable = "POSTHASTE_TEST_ANSWERS";
const recorded = new Set<string>();

/** Does nothing without the folder that the gate names. */
export function recordAnswer(operation: unknown, status: number): void {
  const folder = process.env[variable];
  const answer = `${String(operation)} ${status}`;
  if (folder === undefined || recorded.has(answer)) return;
  recorded.add(answer);
  mkdirSync(folder, { recursive: true });
  appendFileSync(join(folder, String(process.pid)), `${answer}\n`);
}

export function seenAnswers(): ReadonlySet<string> {
  const folder = process.env[variable];
  if (folder === undefined) throw new Error("this comes after: npm test -- end-to-end answers");
  const files = readdirSync(folder).map((file) => readFileSync(join(folder, file), "utf8"));
  return new Set(files.flatMap((text) => text.trimEnd().split("\n")));
}
