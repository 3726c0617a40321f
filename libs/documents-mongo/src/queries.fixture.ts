/**
 * What the adapters ask of a server, by the driver's own record of its commands, and which of it no index answers.
 *
 * The rule is MongoDB's: an index can be used by a query that bounds its first field and, where it holds only the documents
 * that have a field, says that they have it. It is judged from the indexes as declared: what an explain says depends on how
 * full a collection is.
 */
import { type CommandStartedEvent, type MongoClient } from "mongodb";
import { type Index } from "./indexes.ts";

export type Queries = {
  /**
   * What was asked that would read a whole collection while only the needed indexes are there, each once; and what is no list,
   * and is served better by one that is only wanted.
   */
  readonly unserved: () => readonly string[];
  /** How many different questions were asked. */
  readonly count: () => number;
  /** How many commands of each name were sent. */
  readonly commands: () => Readonly<Record<string, number>>;
  /** Statements of updates, of which one command may have many. */
  readonly updates: () => number;
  /** Commands that read or wrote with another concern than ADR 97 says. */
  readonly otherConcerns: () => readonly string[];
};

/** Clients with `monitorCommands`, which an address may say. `lists`: of heavy reads, which alone may go without what is only wanted. */
export function watchQueries(
  { lists, others }: { readonly lists: MongoClient; readonly others: readonly MongoClient[] },
  database: string,
  indexes: readonly Index[],
): Queries {
  const needed = indexes.filter(({ is }) => is === "needed");
  const asked = new Map<string, boolean>();
  const commands: Record<string, number> = {};
  const otherConcerns = new Set<string>();
  let updates = 0;
  const hearing = (isList: boolean) => (event: CommandStartedEvent) => {
    const { databaseName, commandName, command } = event;
    if (databaseName !== database) return;
    commands[commandName] = (commands[commandName] ?? 0) + 1;
    updates += all(plain(command)["updates"]).length;
    if (!hasItsConcern(commandName, command)) otherConcerns.add(commandName);
    for (const filter of filtersOf(commandName, command)) {
      const collection = String(plain(command)[commandName]);
      const shape = `${commandName} ${collection} ${JSON.stringify(shapeOfAll(filter))}`;
      const own = of(needed, collection);
      const isWell =
        isServed(filter, own) &&
        (isList || boundIn(filter, own) >= boundIn(filter, of(indexes, collection)));
      if (!asked.has(shape)) asked.set(shape, isWell);
    }
  };
  lists.on("commandStarted", hearing(true));
  for (const client of others) client.on("commandStarted", hearing(false));
  return {
    unserved: () => [...asked].flatMap(([shape, isAnswered]) => (isAnswered ? [] : shape)),
    count: () => asked.size,
    commands: () => commands,
    updates: () => updates,
    otherConcerns: () => [...otherConcerns],
  };
}

const isWrite = (name: string): boolean =>
  ["insert", "update", "delete", "findAndModify"].includes(name);
const isRead = (name: string): boolean => ["find", "aggregate", "count", "distinct"].includes(name);

/** Majority and journal for whatever writes; no read waits for a majority but a walk's, of one snapshot (ADR 180). */
function hasItsConcern(name: string, command: unknown): boolean {
  const { readConcern, writeConcern } = plain(command);
  if (isRead(name)) {
    const { level } = plain(readConcern);
    return level === "local" || (level === "snapshot" && name === "find");
  }
  const { w, j } = plain(writeConcern);
  return !isWrite(name) || (w === "majority" && j === true);
}

const of = (indexes: readonly Index[], name: string): readonly Index[] =>
  indexes.filter(({ collection }) => collection === name);

type Plain = Readonly<Record<string, unknown>>;

function filtersOf(name: string, command: unknown): readonly Plain[] {
  const { filter, query, updates, deletes, pipeline } = plain(command);
  switch (name) {
    case "find":
      return [plain(filter)];
    case "count":
    case "distinct":
    case "findAndModify":
      return [plain(query)];
    case "update":
      return all(updates).map(({ q }) => plain(q));
    case "delete":
      // Without a condition: a suite that empties its database.
      return all(deletes)
        .map(({ q }) => plain(q))
        .filter((q) => Object.keys(q).length > 0);
    case "aggregate":
      return [plain(all(pipeline)[0]?.["$match"])];
    default:
      return [];
  }
}

function isServed({ $or, $and, ...fields }: Plain, indexes: readonly Index[]): boolean {
  if (isBound(fields["_id"]) || indexes.some((index) => serves(index, fields))) return true;
  const withFields = (part: Plain): boolean => isServed({ ...fields, ...part }, indexes);
  const branches = all($or);
  return all($and).some(withFields) || (branches.length > 0 && branches.every(withFields));
}

function serves({ key, having }: Index, fields: Plain): boolean {
  const [first] = Object.keys(key);
  if (first === undefined || !isBound(fields[first])) return false;
  return having === undefined || isSaidToBe(fields[having]);
}

/** How many fields in a row the best of these indexes bounds. */
function boundIn(fields: Plain, indexes: readonly Index[]): number {
  const counts = indexes
    .filter((index) => serves(index, fields))
    .map(({ key }) => {
      const names = Object.keys(key);
      const first = names.findIndex((name) => !isBound(fields[name]));
      return first < 0 ? names.length : first;
    });
  return Math.max(0, ...counts);
}

const isBound = (condition: unknown): boolean =>
  condition !== undefined && says(condition, ["$eq", "$in", "$lt", "$lte", "$gt", "$gte"]);

/** See `Index.having`: a range alone does not say it to every server. */
const isSaidToBe = (condition: unknown): boolean =>
  condition !== undefined && says(condition, ["$eq", "$in", "$exists"]);

/** With one of these operators, or with none, which is to be equal. */
function says(condition: unknown, operators: readonly string[]): boolean {
  const names = isPlain(condition) ? Object.keys(condition) : [];
  const hasOperators = names.some((name) => name.startsWith("$"));
  return !hasOperators || names.some((name) => operators.includes(name));
}

/** The same for questions that differ in their values only. */
function shapeOf(condition: unknown): unknown {
  if (Array.isArray(condition) && condition.every(isPlain)) return condition.map(shapeOf);
  return isPlain(condition) ? shapeOfAll(condition) : "?";
}

const shapeOfAll = (fields: Plain): Plain =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, shapeOf(value)]));

const isPlain = (value: unknown): value is Plain =>
  typeof value === "object" &&
  value !== null &&
  Object.keys(value).length > 0 &&
  !Array.isArray(value);

const plain = (value: unknown): Plain => (isPlain(value) ? value : {});
const all = (value: unknown): readonly Plain[] => (Array.isArray(value) ? value.map(plain) : []);
