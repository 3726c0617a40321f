/**
 * The queries that the adapters send to a server, recorded by the driver's command events, and those that no index
 * answers. The rule is MongoDB's: an index can be used by a query that bounds its first field and, if the index holds
 * only documents that have a field, says that they have it. Queries are compared with the declared indexes: the answer of
 * an explain depends on how full a collection is.
 */
import { type CommandStartedEvent, type MongoClient } from "mongodb";
import { beatsName } from "./link/beats.ts";
import { type Index } from "./indexes.ts";

export type Queries = {
  /**
   * Returns, each once, the queries that would read a whole collection with only the needed indexes, and the queries
   * that are no list and that only a wanted index serves better.
   */
  readonly unserved: () => readonly string[];
  readonly count: () => number;
  /** Returns how many commands of each name were sent. */
  readonly commands: () => Readonly<Record<string, number>>;
  /** Returns the number of update statements, without beats, whose number grows with time. One command may have many. */
  readonly updates: () => number;
  /** Returns commands that read or wrote with another concern than ADR 97 demands. */
  readonly otherConcerns: () => readonly string[];
  /** Returns heavy reads, each once, whose time limit on the server differs from the configured one. */
  readonly otherTimes: () => readonly string[];
};

/**
 * Clients must have `monitorCommands`, which an address may set. `lists`: the client of heavy reads, the only one
 * that may lack wanted indexes.
 */
export function watchQueries(
  { lists, others }: { readonly lists: MongoClient; readonly others: readonly MongoClient[] },
  database: string,
  indexes: readonly Index[],
  heavyMs: number,
): Queries {
  const needed = indexes.filter(({ is }) => is === "needed");
  const asked = new Map<string, boolean>();
  const commands: Record<string, number> = {};
  const otherConcerns = new Set<string>();
  const otherTimes = new Set<string>();
  let updates = 0;
  const hearing = (isList: boolean) => (event: CommandStartedEvent) => {
    const { databaseName, commandName, command } = event;
    if (databaseName !== database) return;
    commands[commandName] = (commands[commandName] ?? 0) + 1;
    if (plain(command)["update"] !== beatsName) updates += all(plain(command)["updates"]).length;
    if (!hasItsConcern(commandName, command)) otherConcerns.add(commandName);
    const collection = String(plain(command)[commandName]);
    if (isList && isRead(commandName) && plain(command)["maxTimeMS"] !== heavyMs)
      otherTimes.add(`${commandName} ${collection}`);
    for (const filter of filtersOf(commandName, command)) {
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
    otherTimes: () => [...otherTimes],
  };
}

const isWrite = (name: string): boolean =>
  ["insert", "update", "delete", "findAndModify"].includes(name);
const isRead = (name: string): boolean => ["find", "aggregate", "count", "distinct"].includes(name);

/**
 * Reports whether the command has the right concern. Writes use majority and journal. No read waits for a majority,
 * except in a walk, which reads one snapshot (ADR 180).
 */
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
      // Without a condition: a suite empties its database.
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

/** Returns how many leading fields the best of these indexes bounds. */
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

/** A range alone does not tell every server that the field exists (see `Index.having`). */
const isSaidToBe = (condition: unknown): boolean =>
  condition !== undefined && says(condition, ["$eq", "$in", "$exists"]);

/** Reports whether the condition uses one of these operators, or no operator, which means equality. */
function says(condition: unknown, operators: readonly string[]): boolean {
  const names = isPlain(condition) ? Object.keys(condition) : [];
  const hasOperators = names.some((name) => name.startsWith("$"));
  return !hasOperators || names.some((name) => operators.includes(name));
}

/** Returns the same shape for queries that differ only in their values. */
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
