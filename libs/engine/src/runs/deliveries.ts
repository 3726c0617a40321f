/**
 * The writes of one change of a run: entries, which are a part and the record of a delivery each, and the records. Reserves slots before
 * the change for the deliveries that may be called at once, so that the change's write claims them, as a publish does
 * (docs/design/record#claimed-by-its-insert).
 */
import {
  accept,
  acceptClaimed,
  claimableAtInsert,
  limits,
  type Message,
  type MessageRecord,
  originHash,
  type Run,
  type RunRef,
  sentBytes,
  type TenantId,
  append,
  bytesOfEntry,
  type EntryDelivery,
  type EntryKey,
  entryMessage,
  keptDelivery,
  partOf,
  type RunIn,
  type RunPart,
  type PublishCommand,
  type RunCommand,
  type RunPublish,
} from "@posthaste/domain";
import {
  type AddedEntry,
  type Decision,
  type LocalDelivery,
  type LocalPlace,
  type RunAddress,
  type RunStore,
  type RunWrite,
} from "@posthaste/ports";
import { type PreparedInsert } from "../publish/accept.ts";
import { type AnnouncePorts, announceInBackground } from "../publish/announce.ts";

export type DeliveryPorts = AnnouncePorts & {
  readonly local?: LocalDelivery;
  readonly runs: Pick<RunStore, "change">;
};

type Reserved = { readonly url: string; readonly place: LocalPlace };
type Made = PreparedInsert & { readonly entry?: AddedEntry | undefined };

export class Deliveries {
  readonly #ports: DeliveryPorts;
  readonly #reserved: readonly Reserved[];
  #made: readonly Made[] = [];

  /** `urls`: one for each delivery that the change may make. */
  constructor(ports: DeliveryPorts, tenant: TenantId, urls: readonly string[]) {
    this.#ports = ports;
    this.#reserved = urls.flatMap((url) => {
      const place = ports.local?.reserve(tenant, originHash(url), 0);
      return place ? { url, place } : [];
    });
  }

  /**
   * Makes the records. The last call counts, since a change may be decided again. `entries`: the entries that the
   * messages deliver.
   */
  recordsOf(
    messages: readonly Message[],
    now: number,
    entries: readonly AddedEntry[] = [],
  ): readonly MessageRecord[] {
    const free = [...this.#reserved];
    this.#made = messages.map((message, i) => {
      const mayClaim = sentBytes(message) <= limits.lightBytesMax && claimableAtInsert(message);
      const at = mayClaim ? free.findIndex(({ url }) => url === message.url) : -1;
      const [reserved] = at < 0 ? [] : free.splice(at, 1);
      if (!reserved) return { record: accept(message, now, !this.#ports.bus.isUp()) };
      const { place } = reserved;
      return { record: acceptClaimed(message, place.owner, now), place, entry: entries[i] };
    });
    return this.#made.map(({ record }) => record);
  }

  /** Changes a run by one write, with the records that the last decision made. */
  change<V>(
    address: RunAddress | RunRef,
    decide: (run: Run) => Decision<V>,
  ): Promise<V | undefined> {
    const decideAnew = (run: Run): Decision<V> => {
      this.#made = [];
      return decide(run);
    };
    return this.within(
      () => this.#ports.runs.change(address, decideAnew),
      (verdict) => verdict !== undefined,
    );
  }

  /**
   * Runs a change. Once it is durable, runs the claimed records here and announces the rest. `isOwn`: the outcome is of a write with
   * these records. When the change fails, its outcome is unknown, and records that it may have claimed are found by their leases.
   */
  async within<T>(change: () => Promise<T>, isOwn: (outcome: T) => boolean): Promise<T> {
    let isWritten = false;
    try {
      const outcome = await change();
      isWritten = isOwn(outcome);
      return outcome;
    } finally {
      this.#end(isWritten ? this.#made : []);
    }
  }

  /** Begins deliveries, and gives back the places that are left. */
  #end(made: readonly Made[]): void {
    const left = new Set(this.#reserved.map(({ place }) => place));
    const rest: MessageRecord[] = [];
    for (const each of made) {
      if (each.place) {
        left.delete(each.place);
        each.place.run(each.record, each.entry);
      } else rest.push(each.record);
    }
    for (const place of left) place.release();
    if (rest.length > 0) announceInBackground(this.#ports, rest);
  }
}

type Entry = {
  readonly key: EntryKey;
  readonly body: Uint8Array;
  readonly delivery: EntryDelivery;
};

/** `run`: the run with the entries in it. The first entry has the rank `from`. */
export function writeOfEntries(
  run: Run,
  from: number,
  entries: readonly Entry[],
  deliveries: Deliveries,
  now: number,
): RunWrite {
  const messages = entries.map(({ delivery, key }) => entryMessage(run, key, delivery, now));
  const parts = entries.map(({ body, delivery, key }, i): RunPart => {
    const sent = keptDelivery(run, delivery, now);
    return { name: partOf(key), at: now, body, rank: from + i, ...(sent && { sent }) };
  });
  const added = entries.map(({ body }, i) => ({ rank: from + i, body }));
  return { run, parts, deliveries: deliveries.recordsOf(messages, now, added) };
}

/** A step that waited, with its result, which does not come from the endpoint. */
export type EndedStep = {
  readonly step: number;
  readonly body: Uint8Array;
  readonly delivery: EntryDelivery;
};

/** Writes results. The steps must be distinct and have no result yet. */
export function decisionOfResults<V>(
  run: RunIn<"active">,
  ended: readonly EndedStep[],
  deliveries: Deliveries,
  now: number,
  verdictOf: (run: Run) => V,
): Required<Omit<Decision<V>, "intake">> {
  const results = ended.map(({ step, ...rest }) => ({
    ...rest,
    key: { role: "result", step } as const,
  }));
  const appended = append(
    run,
    results.map(({ key }) => key),
  );
  if (appended.kind === "refused") throw new Error(appended.text);
  const bytes = ended.reduce((sum, { body }) => sum + bytesOfEntry(body), run.bytes);
  const next = { ...appended.run, bytes };
  const write = writeOfEntries(next, run.history.length, results, deliveries, now);
  return { verdict: verdictOf(next), write };
}

export const fitsHistory = (run: Pick<Run, "bytes">, body: Uint8Array): boolean =>
  run.bytes + bytesOfEntry(body) <= limits.runHistoryBytesMax;

export const isRunCommand = <Kind extends RunPublish["kind"]>(
  command: PublishCommand,
  kind: Kind,
): command is RunCommand<Kind> => command.run?.kind === kind && command.destination.kind === "url";

/** Returns how the command's message is delivered. */
export function deliveryFor(
  command: RunCommand<"call" | "entry" | "start">,
  notBefore: number,
): EntryDelivery {
  const { callerIp, destination, headers, hop, method, policy, run } = command;
  return {
    ...{ url: destination.url, callerIp, headers, hop, method, notBefore, policy },
    ...(run.kind === "entry" && run.stepName !== undefined && { stepName: run.stepName }),
  };
}

export function addressOf({ run, tenant }: RunCommand<"call" | "entry">): RunAddress {
  const { createdAt, id } = run;
  return { tenant, id, ...(createdAt !== undefined && { createdAt }) };
}

export type StepJson = Readonly<Record<string, unknown>>;

/** Returns the body of a part that this folder writes as JSON: waits, invocations, and the body for a failure function. */
export const jsonBytes = (json: object): Uint8Array =>
  new TextEncoder().encode(JSON.stringify(json));

/** Parses such a part; the only place where such a type is trusted without a check. */
export const partJson = <T>({ body }: { readonly body: Uint8Array }): T =>
  JSON.parse(new TextDecoder().decode(body)) as T;

export const base64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64");
