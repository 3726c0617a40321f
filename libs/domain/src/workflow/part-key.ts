/**
 * The kinds of parts of a run. The name of a part is its key in the stores and the end of the ids of its messages;
 * only this file makes and reads names.
 */
import { type DeliveryKey, type EntryKey } from "./order.ts";

/** The name of a part, with which message ids of a run are made, such as `start` or `s3`. */
export type PartName = string;

export type PartKey = DeliveryKey | StepPartKey | RoundPartKey | NoteKey | EndKey;

/** How a step waits, the run that a step has invoked, and when that run was created. */
type StepPartKey = { readonly role: "wait" | "invocation" | "invoked"; readonly step: number };
/** The request to the failure function in a round, counted from 1, and its answer. */
type RoundPartKey = { readonly role: "told" | "reply"; readonly round: number };
/** An event that came before its wait; `version` is that of the head to which it was added. */
type NoteKey = { readonly role: "note"; readonly version: number };
/** The result of the run, the answer that failed it, and the headers of that answer if no failure function gets them. */
type EndKey = { readonly role: "returned" | "failure" | "failureHeaders" };

const words = {
  start: "start",
  adopted: "adopted",
  returned: "e",
  failure: "x",
  failureHeaders: "h",
} as const;

const letters = {
  plan: "p",
  result: "s",
  call: "c",
  answer: "a",
  wait: "w",
  invocation: "v",
  invoked: "i",
} as const;

const roundLetters = { told: "f", reply: "r" } as const;
const noteLetter = "n";

export function partOf(key: PartKey): PartName {
  if ("step" in key) return `${letters[key.role]}${key.step}`;
  if ("round" in key) return `${roundLetters[key.role]}${key.round === 1 ? "" : key.round}`;
  if ("version" in key) return `${noteLetter}${key.version}`;
  return words[key.role];
}

/** Returns undefined for a part that only a newer build knows. */
export function partKeyOf(name: PartName): PartKey | undefined {
  const word = wordRoles.get(name);
  if (word) return { role: word };
  const [, letter = "", digits] = /^([a-z])(0|[1-9][0-9]*)?$/.exec(name) ?? [];
  const number = Number(digits);
  const round = roundRoles.get(letter);
  if (round && digits === undefined) return { role: round, round: 1 };
  if (round && number > 1) return { role: round, round: number };
  if (letter === noteLetter && digits !== undefined) return { role: "note", version: number };
  const role = stepRoles.get(letter);
  return role && number > 0 ? { role, step: number } : undefined;
}

/** Returns the delivery of a part; undefined if the run does not continue by this part. */
export function deliveryOf(name: PartName): DeliveryKey | undefined {
  const key = partKeyOf(name);
  return key && isDelivery(key) ? key : undefined;
}

const deliveryRoles: ReadonlySet<string> = new Set<DeliveryKey["role"]>([
  ...(["start", "adopted", "plan", "result", "call", "answer"] as const),
]);
export const isDelivery = (key: PartKey): key is DeliveryKey => deliveryRoles.has(key.role);
export const isEntry = (key: PartKey): key is EntryKey =>
  isDelivery(key) && key.role !== "call" && key.role !== "answer";

const reversed = <Role extends string>(
  names: Readonly<Record<Role, string>>,
): ReadonlyMap<string, Role> => {
  const roles = new Map<string, Role>();
  for (const role in names) roles.set(names[role], role);
  return roles;
};
const wordRoles = reversed(words);
const stepRoles = reversed(letters);
const roundRoles = reversed(roundLetters);

const rolesOfLog = ["call", "invoked", "invocation", "wait"] as const;
type RoleOfLog = (typeof rolesOfLog)[number];

/** First letters of the parts of calls, waits and invocations that a log shows beside their results. */
export const lettersOfLog = rolesOfLog.map((role) => letters[role]);

export const isKeyOfLog = (key: PartKey): key is Extract<PartKey, { readonly role: RoleOfLog }> =>
  rolesOfLog.some((role) => role === key.role);
