/** The options that select messages, dead letters or runs, and the query for them. */
import { type Command } from "commander";
import { CliError } from "./exit.ts";
import { withValue } from "./option.ts";
import { parameterHelp } from "./setting-help.ts";

type Filter = readonly [flag: string, query: string, example: string];

const label: Filter = ["--label <label>", "label", "orders"];
const flowKey: Filter = ["--flow-key <key>", "flowControlKey", "carrier"];
const callerIp: Filter = ["--caller-ip <ip>", "callerIp", "192.0.2.7"];
const from: Filter = ["--from <time>", "fromDate", "2026-01-31T12:00:00Z"];
const to: Filter = ["--to <time>", "toDate", "2026-02-01"];

export const messageFilters: readonly Filter[] = [
  ["--destination <url>", "url", "https://shop.example/orders"],
  ["--group <name>", "topicName", "receivers"],
  ["--schedule <id>", "scheduleId", "report"],
  ["--queue <name>", "queueName", "mail"],
  label,
  flowKey,
  callerIp,
  from,
  to,
];
export const letterFilters: readonly Filter[] = [
  ...messageFilters,
  ["--status <status>", "responseStatus", "500"],
];
export const eventFilters: readonly Filter[] = [
  ["--message <id>", "messageId", "msg_1icMmin3YcWLrHXGo1GZ9mJyFI"],
  ...messageFilters,
  ["--state <state>", "state", "FAILED"],
];
/** `--follow` has no end, so it takes no end time. */
export const followFilters = eventFilters.filter(([, query]) => query !== "toDate");
export const ofRuns: readonly Filter[] = [
  ["--workflow <url>", "workflowUrl", "https://shop.example/workflow"],
  label,
  flowKey,
  callerIp,
  from,
  to,
];
export const runFilters: readonly Filter[] = [
  ["--run <id>", "workflowRunId", "order-17"],
  ...ofRuns,
  ["--state <state>", "state", "RUN_FAILED"],
];

const nameOf = (flag: string): string =>
  flag
    .slice(2)
    .split(" ")[0]
    ?.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase()) ?? "";

const isTime = (query: string): boolean => query.endsWith("Date");

export function withFilters(command: Command, filters: readonly Filter[]): Command {
  for (const [flag, query, example] of filters)
    withValue(
      command,
      flag,
      { about: aboutOf(query), fallback: "any", example },
      isTime(query) ? "once" : "again",
    );
  return command;
}

/** Returns the API's text about a parameter. The CLI also takes dates, and describes repetition differently. */
function aboutOf(query: string): string {
  if (query === "fromDate") return "Not before: a date, or Unix milliseconds";
  if (query === "toDate") return "Not after: a date, or Unix milliseconds";
  return (parameters.get(query) ?? query).replace(/; (once|repeated,.*)$/, "");
}

const parameters: ReadonlyMap<string, string> = new Map(Object.entries(parameterHelp));

export type Query = Readonly<Record<string, string | number | boolean | readonly string[]>>;

export function queryOf(
  options: Readonly<Record<string, unknown>>,
  filters: readonly Filter[],
): Query {
  const query: Record<string, string | readonly string[]> = {};
  for (const [flag, name] of filters) {
    const value = options[nameOf(flag)] as string | readonly string[] | undefined;
    if (value === undefined) continue;
    query[name] = typeof value === "string" ? timeIn(flag, value) : value;
  }
  return query;
}

export function timeIn(flag: string, text: string): string {
  if (/^\d+$/.test(text)) return text;
  const at = Date.parse(text);
  if (Number.isNaN(at))
    throw new CliError(
      "usage",
      `${flag}: ${text} is not a time such as 2026-01-31T12:00:00Z or milliseconds`,
    );
  return String(at);
}

/** Returns the query of a bulk action: by ids, by filters, or `--all`. */
export function selectionOf(
  ids: readonly string[],
  options: Readonly<Record<string, unknown>>,
  filters: readonly Filter[],
  idName: string,
): Query {
  const query = queryOf(options, filters);
  const byFilter = Object.keys(query).length > 0;
  const ways = [ids.length > 0, byFilter, options["all"] === true].filter(Boolean).length;
  if (ways !== 1) throw new CliError("usage", "give ids, filters such as --label, or --all");
  return ids.length > 0 ? { [idName]: ids } : query;
}

export const countOf = (text: string, option = "--limit"): number => {
  const count = /^\d{1,15}$/.test(text) ? Number(text) : 0;
  if (count < 1) throw new CliError("usage", `${option}: ${text} is not a number above 0`);
  return count;
};
