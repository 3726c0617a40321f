/**
 * Publishes many commands at once (docs/design/batch.md), in portions. Each portion claims its deduplication keys right before
 * its one insert, and is announced before the next begins.
 *
 * (1) Nothing is stored before every group is found; after that each item succeeds or fails on its own.
 * (2) Records are inserted in the order of the commands.
 * (3) The first of several equal deduplication keys is published; each later one is its duplicate.
 */
import {
  type DeduplicationKey,
  fault,
  type Fault,
  type Group,
  isFault,
  type PublishCommand,
} from "@posthaste/domain";
import { isStoreError, type StoreError } from "@posthaste/ports";
import { type AcceptPorts } from "./accept.ts";
import { findGroup } from "./group-publish.ts";
import { type NoRoom } from "../lanes/queues.ts";
import {
  isAlone,
  type Item,
  type Outcome,
  type Portion,
  publishPortion,
} from "./publish-portion.ts";

/** The command at `index` names a destination or queue that is missing and cannot be made. Nothing was stored. */
export type Refused = {
  readonly refused: Fault;
  readonly index: number;
  readonly field: "destination" | "queue";
};

/** Called once every group is found, before anything is stored: takes room for the messages and the queues. */
export type TakeRoom = (asked: {
  readonly messages: number;
  readonly queues: readonly string[];
}) => Promise<NoRoom | undefined>;

/**
 * Publishes commands. A returned fault, or a rejection, concerns the first portion: its outcome is then unknown, and the rest was
 * not tried. A fault of a later portion is the outcome of its items.
 */
export async function publishMany(
  ports: AcceptPorts,
  commands: readonly PublishCommand[],
  takeRoom: TakeRoom,
): Promise<readonly Outcome[] | Refused | Fault> {
  const found = await findGroups(ports, commands);
  if ("refused" in found) return found;
  const noRoom = await takeRoom(wantedBy(commands, found));
  if (noRoom) return refusedFor(commands, noRoom);
  const outcomes: Outcome[] = [];
  const firsts = new Map<DeduplicationKey, number>();
  for (const portion of portionsOf(commands, found)) {
    const made = await publishPortion(ports, portion, { outcomes, firsts }).catch(
      (error: unknown) => {
        if (outcomes.length === 0 || !isStoreError(error)) throw error;
        return faultOfStore(error);
      },
    );
    if (!isFault(made)) outcomes.push(...made);
    else if (outcomes.length === 0) return made;
    else {
      outcomes.push(...portion.map(() => made));
      while (outcomes.length < commands.length) outcomes.push(notTried);
      break;
    }
  }
  return outcomes;
}

const notTried = fault("overloaded", "nothing of it was accepted: the batch ended before it");

function faultOfStore({ code }: StoreError): Fault {
  switch (code) {
    case "unavailable":
      return fault("outcome_unknown", "the store does not answer: this may have happened or not");
    case "disk_full":
      return fault("disk_full", "the disk is full");
    case "indexing":
    case "overloaded":
      return fault("overloaded", "too much is waiting to be stored, come back later");
  }
}

/** The highest number of messages that the groups of one batch make; each has its place in the answer. */
const childrenMax = 100_000;

async function findGroups(
  ports: AcceptPorts,
  commands: readonly PublishCommand[],
): Promise<Map<string, Group> | Refused> {
  const found = new Map<string, Group>();
  let children = 0;
  for (const [index, { tenant, destination }] of commands.entries()) {
    if (destination.kind !== "group") continue;
    const group = found.get(destination.name) ?? (await findGroup(ports, tenant, destination.name));
    if (isFault(group)) return { refused: group, index, field: "destination" };
    found.set(destination.name, group);
    children += group.endpointCount;
    if (children > childrenMax) return { refused: tooManyChildren, index, field: "destination" };
  }
  return found;
}

function wantedBy(
  commands: readonly PublishCommand[],
  found: ReadonlyMap<string, Group>,
): Parameters<TakeRoom>[0] {
  let messages = 0;
  const queues = new Set<string>();
  for (const { destination, queue } of commands) {
    messages += destination.kind === "url" ? 1 : (found.get(destination.name)?.endpointCount ?? 0);
    if (queue !== undefined) queues.add(queue);
  }
  return { messages, queues: [...queues] };
}

const refusedFor = (
  commands: readonly PublishCommand[],
  { refused, queue }: NoRoom,
): Refused | Fault =>
  queue === undefined
    ? refused
    : { refused, index: commands.findIndex((command) => command.queue === queue), field: "queue" };

const tooManyChildren = fault(
  "beyond_plan",
  `the groups of one batch may have ${childrenMax} endpoints together`,
);

/** The size of a portion, small enough that the last message is inserted soon after its key is claimed. */
const portionMax = 256;
const portionBytesMax = 4 * 1024 * 1024;

function* portionsOf(
  commands: readonly PublishCommand[],
  found: ReadonlyMap<string, Group>,
): Generator<Portion, void, undefined> {
  let portion: Item[] = [];
  let bytes = 0;
  for (const command of commands) {
    const item = itemOf(command, found);
    bytes += command.body.length;
    const isFull = portion.length === portionMax || bytes > portionBytesMax;
    if (portion.length > 0 && (isFull || isAlone(item) || isAlone(portion[0]))) {
      yield portion;
      portion = [];
      bytes = command.body.length;
    }
    portion.push(item);
  }
  if (portion.length > 0) yield portion;
}

function itemOf(command: PublishCommand, found: ReadonlyMap<string, Group>): Item {
  const { destination } = command;
  if (destination.kind === "url") return { kind: "url", command, url: destination.url };
  const group = found.get(destination.name);
  if (!group) throw new Error(`group ${destination.name} was not looked for`);
  return { kind: "group", publish: { command, group } };
}
