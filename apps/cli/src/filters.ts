/** Options that say which messages, dead letters or runs a command means, and the query that asks for them. */
import { type Command } from "commander";
import { CliError } from "./exit.ts";

/** A flag with its value, the name of the query, and what it says. */
type Filter = readonly [flag: string, query: string, about: string];

const label: Filter = ["--label <label>", "label", "with one of these labels"];
const flowKey: Filter = ["--flow-key <key>", "flowControlKey", "of a flow control key"];
const callerIp: Filter = ["--caller-ip <ip>", "callerIp", "published from this address"];
const from: Filter = ["--from <time>", "fromDate", "not before; a date, or milliseconds"];
const to: Filter = ["--to <time>", "toDate", "not after; a date, or milliseconds"];

export const messageFilters: readonly Filter[] = [
  ["--destination <url>", "url", "to this URL"],
  ["--group <name>", "topicName", "of a URL group"],
  ["--schedule <id>", "scheduleId", "of a schedule"],
  ["--queue <name>", "queueName", "of a queue"],
  label,
  flowKey,
  callerIp,
  from,
  to,
];
export const letterFilters: readonly Filter[] = [
  ...messageFilters,
  ["--status <status>", "responseStatus", "with this last answer"],
];
export const eventFilters: readonly Filter[] = [
  ["--message <id>", "messageIds", "of this message"],
  ...messageFilters,
  ["--state <state>", "state", "such as DELIVERED or FAILED"],
];
/** What has no end is not asked for up to a time. */
export const followFilters = eventFilters.filter(([, query]) => query !== "toDate");
const ofRuns: readonly Filter[] = [
  ["--workflow <url>", "workflowUrl", "of the workflow at this URL"],
  label,
  flowKey,
  callerIp,
  from,
  to,
];
export const runFilters: readonly Filter[] = [
  ["--run <id>", "workflowRunId", "of this id"],
  ...ofRuns,
  ["--state <state>", "state", "such as RUN_STARTED or RUN_FAILED"],
];
export const cancelRunFilters = ofRuns;

const nameOf = (flag: string): string =>
  flag
    .slice(2)
    .split(" ")[0]
    ?.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase()) ?? "";

/** An option that may be given again: one that took all words up to the next would take arguments, too. */
export const collected = (value: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  value,
];

const isTime = (query: string): boolean => query.endsWith("Date");

export function withFilters(command: Command, filters: readonly Filter[]): Command {
  for (const [flag, query, about] of filters)
    if (isTime(query)) command.option(flag, about);
    else command.option(flag, about, collected);
  return command;
}

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

function timeIn(flag: string, text: string): string {
  if (/^\d+$/.test(text)) return text;
  const at = Date.parse(text);
  if (Number.isNaN(at))
    throw new CliError(
      "usage",
      `${flag}: ${text} is no time: 2026-01-31T12:00:00Z, or milliseconds`,
    );
  return String(at);
}

/** All that a bulk action means: by their ids, by filters, or by --all. */
export function selectionOf(
  ids: readonly string[],
  options: Readonly<Record<string, unknown>>,
  filters: readonly Filter[],
  idName: string,
): Query {
  const query = queryOf(options, filters);
  const byFilter = Object.keys(query).length > 0;
  const ways = [ids.length > 0, byFilter, options["all"] === true].filter(Boolean).length;
  if (ways !== 1)
    throw new CliError("usage", "say which: their ids, filters such as --label, or --all");
  return ids.length > 0 ? { [idName]: ids } : query;
}

export const countOf = (text: string, option = "--limit"): number => {
  const count = /^\d{1,15}$/.test(text) ? Number(text) : 0;
  if (count < 1) throw new CliError("usage", `${option}: ${text} is no number above 0`);
  return count;
};
