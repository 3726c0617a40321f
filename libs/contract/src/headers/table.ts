/** The table of all configuration headers: the suffix, and the use of the value (docs/design/wire#dialects). */
import {
  type CallbackSettings,
  type Fault,
  inCallbacks,
  isFault,
  type Policy,
} from "@posthaste/domain";
import { dialectOf, prefixLength } from "../wire/dialects.ts";
import { bytesOfText } from "../wire/text.ts";
import { policyKeys, rowOf } from "./policy-settings.ts";
import { publishSettings } from "./publish-settings.ts";
import { runSettings } from "./run-settings.ts";
import { scheduleSettings } from "./schedule-settings.ts";
import { newRequest, requestSettings } from "./request-settings.ts";
import {
  type Bounds,
  type Field,
  type HeaderRule,
  type PublishDraft,
  type Reader,
  type RequestDraft,
} from "./setting.ts";
import { parseUrl } from "./values.ts";

export type Handler = (field: Field, draft: PublishDraft, bounds: Bounds) => Fault | undefined;

/** The request that a header configures. A callback's headers are the message's with the family in front. */
const families = [
  { prefix: "", of: (draft: PublishDraft): RequestDraft => draft.message },
  {
    prefix: "Callback-",
    of: (draft: PublishDraft): RequestDraft => (draft.callback ??= newRequest()),
  },
  {
    prefix: "Failure-Callback-",
    of: (draft: PublishDraft): RequestDraft => (draft.failureCallback ??= newRequest()),
  },
] as const;

/**
 * Workflow clients before 1.0 send these with each call, for the callback that is called once the delivery of the
 * call's answer has failed for good.
 */
const ofAnswer = {
  prefix: "Callback-Failure-Callback-",
  of: (draft: PublishDraft): RequestDraft => (draft.answerFailure ??= newRequest()),
} as const;
const answerFailure = "Callback-Failure-Callback";
const allFamilies = [...families, ofAnswer];

const whole = (draft: PublishDraft): PublishDraft => draft;

const isOfEach = (key: keyof Policy): key is keyof CallbackSettings => inCallbacks[key] !== "none";
const ofEach = givenByOne(policyKeys.filter(isOfEach));
const ofMessages = givenByOne(policyKeys.filter((key) => !isOfEach(key)));

/** Returns the headers of settings that have one header each. */
function givenByOne<Key extends keyof Policy>(keys: readonly Key[]) {
  return keys.flatMap((key) => {
    const { header } = rowOf(key);
    return header === "several" ? [] : [{ ...header, key }];
  });
}

/** Handlers by lower-case suffix. A suffix that is missing here and begins with none of `forwardPrefixes` is passed to `refuseUnknown`. */
export const handlers: ReadonlyMap<string, Handler> = new Map<string, Handler>([
  ...publishSettings.map((row) => handled(row, whole)),
  ...scheduleSettings.map((row) => handled(row, (draft: PublishDraft) => (draft.schedule ??= {}))),
  ...runSettings.map(({ suffix, take }): [string, Handler] => [suffix.toLowerCase(), take]),
  handled({ suffix: answerFailure, key: "answerFailureUrl", read: parseUrl }, whole),
  ...ofMessages.map((row) => handled(row, ({ message }: PublishDraft) => message.settings)),
  ...allFamilies.flatMap(({ prefix, of }) => [
    ...ofEach.map((row) => handled(row, (draft: PublishDraft) => of(draft).settings, prefix)),
    ...requestSettings.map((row) => handled(row, of, prefix)),
  ]),
]);

function handled<Draft, Key extends keyof Draft>(
  {
    key,
    read,
    suffix,
  }: { readonly key: Key; readonly suffix: string; readonly read: Reader<Draft[Key]> },
  of: (draft: PublishDraft) => Draft,
  prefix = "",
): [string, Handler] {
  const handle: Handler = (field, draft, bounds) => {
    const value = read(field, bounds);
    if (isFault(value)) return value;
    of(draft)[key] = value;
    return undefined;
  };
  return [(prefix + suffix).toLowerCase(), handle];
}

const urlSuffixes: ReadonlySet<string> = new Set([
  ...publishSettings.flatMap(({ suffix, isUrl }) => (isUrl ? [suffix.toLowerCase()] : [])),
  answerFailure.toLowerCase(),
]);

/**
 * Returns the value of a header in JSON as Node would give it for a header: a URL in UTF-8, any other value with each
 * character as one byte.
 */
export function bytesOfValue(name: string, value: string): string {
  const bytes = bytesOfText(value);
  if (bytes === value) return value;
  const lower = name.toLowerCase();
  const isUrl = dialectOf(lower) !== undefined && urlSuffixes.has(lower.slice(prefixLength));
  return isUrl ? bytes : value;
}

/** The name of a header to send follows one of these. */
export const forwardPrefixes = allFamilies.map(({ prefix, of }) => ({
  prefix: `${prefix}Forward-`.toLowerCase(),
  written: `${prefix}Forward-`,
  of,
}));

/** Headers by their full suffixes, for the documents. Headers that only older clients send are left out. */
export const headerRules: readonly HeaderRule[] = [
  ...families.flatMap(({ prefix }) => [
    ...[...ofEach, ...requestSettings].map((row) => ({
      ...ruleOf(row),
      suffix: prefix + row.suffix,
    })),
    {
      suffix: `${prefix}Forward-*`,
      rule: "Sent without the prefix and Forward-.",
      ...{ fallback: "none", example: "north" },
    },
  ]),
  ...[...ofMessages, ...publishSettings, ...scheduleSettings, ...runSettings].map(ruleOf),
];

function ruleOf({ example, fallback, rule, suffix }: HeaderRule): HeaderRule {
  return { suffix, rule, fallback, example };
}

/** Suffixes as they are written, by lower case. */
export const suffixes: ReadonlyMap<string, string> = new Map(
  headerRules.map(({ suffix }) => [suffix.toLowerCase(), suffix]),
);

export const isConfiguration = (suffix: string): boolean =>
  handlers.has(suffix) || forwardPrefixes.some(({ prefix }) => suffix.startsWith(prefix));

/** Returns the first header of the draft that a retry of a dead letter refuses. */
export const refusedAtRetry = (draft: PublishDraft): string | undefined =>
  (
    publishSettings.find(({ key, retry }) => retry === "refused" && isGiven(draft[key])) ??
    [...ofEach, ...ofMessages].find(
      ({ key, retry }) => retry === "refused" && isGiven(draft.message.settings[key]),
    )
  )?.suffix;

const isGiven = (value: unknown): boolean => value !== undefined && value !== false;
