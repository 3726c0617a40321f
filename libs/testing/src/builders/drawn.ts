/** Messages and filters of the same few values, drawn from a seed: most filters find some of the messages. */
import {
  type DeadLetter,
  type DeadLetterFilter,
  type LiveFilter,
  type LogFilter,
  logStates,
  type FailedRunFilter,
  type MessageId,
  type Run,
  type RunFilter,
  runId,
  type RunIn,
} from "@posthaste/domain";
import { type Dice } from "../seeded-random.ts";
import { aPolicy, type MessageOverrides } from "./message.ts";

type Values = readonly [string, ...string[]];

const urls: Values = [
  "https://a.example/x",
  "https://a.example:8443/x?q=1,2",
  "https://a.example/y",
  "https://b.example/x",
  "https://x.a.example/x/",
];
const addresses: Values = ["203.0.113.7", "2001:db8::1"];
const names: Values = ["one", "two", "ones"];
/** Values of labels and flow keys, which may be any text. */
const texts: Values = ["one", 'a "quoted" \\ one', "ü/𝒳 %_*"];
const unheardOf = "unheard-of";

/** Times of drawn messages and filters are at most this much after `from`. */
export const drawnForMs = 20;

export function drawnMessage(chance: Dice, from: number): MessageOverrides & { now: number } {
  const perhaps = (probability: number): string | undefined =>
    chance.chance(probability) ? chance.pick(names) : undefined;
  const [group, scheduleId, queueName] = [0.5, 0.3, 0.5].map(perhaps);
  return {
    now: from + chance.integer(0, drawnForMs),
    url: chance.pick(urls),
    origin: {
      ...{ callerIp: chance.pick(addresses), hop: 0 },
      ...(group !== undefined && { group: { name: group } }),
      ...(scheduleId !== undefined && { scheduleId }),
      ...(queueName !== undefined && { queueName }),
    },
    policy: aPolicy({ labels: texts.filter(() => chance.chance(0.3)) }),
    ...(chance.chance(0.5) && {
      flow: { key: chance.pick(texts), limits: { parallelism: 1, periodMs: 1_000 } },
    }),
  };
}

/** How each field of a filter is drawn. A missing field does not compile. */
export type Drawn<Filter> = {
  readonly [Field in keyof Filter]-?: () => NonNullable<Filter[Field]>;
};

/** Draws filters of each field alone, so that no field is missed, then `count` filters of several fields. */
export function drawnFilters<Filter extends object>(
  chance: Dice,
  fields: Drawn<Filter>,
  count = 50,
): readonly Filter[] {
  const names: Extract<keyof Filter, string>[] = [];
  for (const name in fields) names.push(name);
  const drawn = (asked: typeof names): Filter =>
    Object.fromEntries(asked.map((name) => [name, fields[name]()])) as Filter;
  return [
    ...names.flatMap((name) => [drawn([name]), drawn([name])]),
    ...Array.from({ length: count }, () => drawn(names.filter(() => chance.chance(0.25)))),
  ];
}

const some =
  <T>(chance: Dice, values: readonly [T, ...T[]], none: T): (() => readonly T[]) =>
  () => [chance.pick(values), chance.pick([...values, none])];

const within = (chance: Dice, from: number): Drawn<Pick<LiveFilter, "from" | "to">> => ({
  from: () => from + chance.integer(0, drawnForMs / 2),
  to: () => from + chance.integer(drawnForMs / 2, drawnForMs),
});

const ofConfiguration = (
  chance: Dice,
): Drawn<Omit<DeadLetterFilter, "messageIds" | "ids" | "responseStatuses" | "from" | "to">> => ({
  urls: some(chance, urls, unheardOf),
  callerIps: some(chance, addresses, unheardOf),
  groups: some(chance, names, unheardOf),
  scheduleIds: some(chance, names, unheardOf),
  queueNames: some(chance, names, unheardOf),
  labels: some(chance, texts, unheardOf),
  flowControlKeys: some(chance, texts, unheardOf),
});

const ofPlace = (chance: Dice): Drawn<Pick<LiveFilter, "hosts" | "paths">> => ({
  hosts: some(chance, ["a.example", "a.example:8443", "b.example"], unheardOf),
  paths: some(chance, ["/x", "/y"], unheardOf),
});

export const liveFields = (chance: Dice, from: number): Drawn<LiveFilter> => ({
  ...ofConfiguration(chance),
  ...ofPlace(chance),
  ...within(chance, from),
});

export const logFields = (
  chance: Dice,
  from: number,
  ids: readonly MessageId[],
): Drawn<LogFilter> => ({
  ...liveFields(chance, from),
  messageIds: () => chance.shuffled(ids).slice(0, 20),
  states: () => chance.shuffled(logStates).slice(0, 3),
});

export const letterFields = (
  chance: Dice,
  from: number,
  letters: readonly DeadLetter[],
): Drawn<DeadLetterFilter> => ({
  ...ofConfiguration(chance),
  ...within(chance, from),
  messageIds: () =>
    chance
      .shuffled(letters)
      .slice(0, 20)
      .map(({ message }) => message.id),
  ids: () =>
    chance
      .shuffled(letters)
      .slice(0, 20)
      .map(({ id }) => id),
  responseStatuses: some(chance, [0, 404, 500], 418),
});

/** Draws the parts of a run that lists show. */
export const drawnRun = (chance: Dice, from: number) => ({
  at: from + chance.integer(0, drawnForMs),
  url: chance.pick(urls),
  callerIp: chance.pick(addresses),
  labels: texts.filter(() => chance.chance(0.3)),
  ...(chance.chance(0.5) && { flowKey: chance.pick(texts) }),
});

const ofAnyRun = (
  chance: Dice,
  runs: readonly Run[],
): Drawn<Omit<FailedRunFilter, "dlqIds" | "statuses" | "from" | "to">> => ({
  ...ofPlace(chance),
  id: () => chance.shuffled(runs)[0]?.id ?? runId(unheardOf),
  createdAt: () => chance.shuffled(runs)[0]?.createdAt ?? 0,
  urls: some(chance, urls, unheardOf),
  urlPrefixes: some(chance, ["https://a.example/", "https://a.example:8443/x?"], unheardOf),
  labels: some(chance, texts, unheardOf),
  flowControlKeys: some(chance, texts, unheardOf),
  callerIps: some(chance, addresses, unheardOf),
});

export const runFields = (chance: Dice, from: number, runs: readonly Run[]): Drawn<RunFilter> => ({
  ...ofAnyRun(chance, runs),
  ...within(chance, from),
  runs: () =>
    chance
      .shuffled(runs)
      .slice(0, 10)
      .map(({ id, createdAt }) => ({ id, createdAt })),
  roots: () =>
    chance
      .shuffled(runs)
      .slice(0, 10)
      .map(({ root }) => root),
  states: () => chance.shuffled(["active", "succeeded", "canceled", "failed"] as const).slice(0, 2),
});

export const failedRunFields = (
  chance: Dice,
  from: number,
  runs: readonly RunIn<"failed">[],
): Drawn<FailedRunFilter> => ({
  ...ofAnyRun(chance, runs),
  ...within(chance, from),
  dlqIds: () =>
    chance
      .shuffled(runs)
      .slice(0, 10)
      .map(({ state }) => state.failure.dlqId),
  statuses: some(chance, [0, 404, 500], 418),
});
