/**
 * Publishes messages and fan-outs in portions (docs/design/batch.md). Each portion claims its deduplication keys
 * right before its one insert, and is announced before the next begins.
 *
 * (1) Each command succeeds or fails on its own.
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
import {
  isAlone,
  type Item,
  type PublishOutcome,
  type Portion,
  publishPortion,
} from "./publish-portion.ts";

/**
 * Publishes commands. A returned fault, or a rejection, concerns the first portion: its outcome is then unknown, and the rest was
 * not tried. A fault of a later portion is the outcome of its items.
 */
export async function publishInPortions(
  ports: AcceptPorts,
  commands: readonly PublishCommand[],
  groups: ReadonlyMap<string, Group>,
): Promise<readonly PublishOutcome[] | Fault> {
  const outcomes: PublishOutcome[] = [];
  const firsts = new Map<DeduplicationKey, number>();
  for (const portion of portionsOf(commands, groups)) {
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

const notTried = fault("overloaded", "not accepted: the batch ended before this part");

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

/** The size of a portion, small enough that the last message is inserted soon after its key is claimed. */
const portionMax = 256;
const portionBytesMax = 4 * 1024 * 1024;

function* portionsOf(
  commands: readonly PublishCommand[],
  groups: ReadonlyMap<string, Group>,
): Generator<Portion, void, undefined> {
  let portion: Item[] = [];
  let bytes = 0;
  for (const command of commands) {
    const item = itemOf(command, groups);
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

function itemOf(command: PublishCommand, groups: ReadonlyMap<string, Group>): Item {
  const { destination } = command;
  if (destination.kind === "url") return { kind: "url", command, url: destination.url };
  const group = groups.get(destination.name);
  if (!group) throw new Error(`group ${destination.name} was not looked for`);
  return { kind: "group", publish: { command, group } };
}
