/**
 * How runs stand: one document for each head in `runs`, keyed by the run's key, and one for each part in `run_parts`, keyed
 * by root and name, with the message that delivers it.
 */
import {
  awaitedEvents,
  type Message,
  type MessageId,
  type PartName,
  type Run,
  type RunKey,
  type RunPart,
  wakeAtOf,
} from "@posthaste/domain";
import { bytes } from "../bytes.ts";
import { type Index } from "../indexes.ts";

export const runsName = "runs";
export const partsName = "run_parts";

export const runIndexes: readonly Index[] = [
  { collection: runsName, key: { tenant: 1, id: 1, generation: -1 } },
  { collection: runsName, key: { root: 1 } },
  { collection: runsName, key: { shard: 1, wakeAt: 1 }, having: "wakeAt" },
  { collection: runsName, key: { shard: 1, deliverAt: 1 }, having: "deliverAt" },
  { collection: runsName, key: { tenant: 1, events: 1, _id: 1 }, having: "events" },
  { collection: runsName, key: { tenant: 1, endedAt: 1 }, having: "endedAt" },
  { collection: partsName, key: { run: 1 } },
];

/**
 * `write` names what has made this version: a write whose reply was lost finds its own by it. `deliver`: parts whose
 * messages may not have been inserted yet, which are looked after at `deliverAt`. `wakeAt`: the earliest deadline of its
 * waits, for `events`.
 */
export type StoredRun = Omit<Run, "key"> & {
  readonly _id: RunKey;
  readonly write: string;
  readonly deliver?: readonly PartName[];
  readonly deliverAt?: number;
  readonly events?: readonly string[];
  readonly wakeAt?: number;
  readonly endedAt?: number;
};

export type StoredPart = Omit<RunPart, "name"> & {
  readonly _id: string;
  /** The root of its run. */
  readonly run: MessageId;
  readonly message?: Omit<Message, "body">;
};

export const partKey = (root: MessageId, name: PartName): string => `${root}/${name}`;

export function runFrom({
  _id,
  write,
  deliver,
  deliverAt,
  events,
  wakeAt,
  endedAt,
  ...run
}: StoredRun): Run {
  return { ...run, key: _id };
}

/** What a change says anew. */
export function movingPart(
  run: Run,
  write: string,
  deliver: readonly PartName[],
  deliverAt: number | undefined,
) {
  const { state, history, reached, version } = run;
  const wakeAt = wakeAtOf(run);
  const events = awaitedEvents(run);
  return {
    $set: {
      ...{ state, history, reached, version, write },
      ...(state.kind !== "active" && { endedAt: state.endedAt }),
      ...(deliver.length > 0 && { deliver }),
      ...(deliverAt !== undefined && { deliverAt }),
      ...(wakeAt !== undefined && { wakeAt }),
      ...(events.length > 0 && { events }),
    },
    $unset: {
      ...(deliver.length === 0 && { deliver: "" as const }),
      ...(deliverAt === undefined && { deliverAt: "" as const }),
      ...(wakeAt === undefined && { wakeAt: "" as const }),
      ...(events.length === 0 && { events: "" as const }),
    },
  };
}

export const bodyOf = ({ body }: Pick<StoredPart, "body">): Uint8Array => bytes(body);
