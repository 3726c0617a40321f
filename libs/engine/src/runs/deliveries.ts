/**
 * The records that one change of a run makes. Reserves slots before the change for the deliveries that may be called
 * at once, so that the change's write claims them, as a publish does (docs/design/record#claimed-by-its-insert).
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
} from "@posthaste/domain";
import {
  type AddedEntry,
  type Decision,
  type LocalDelivery,
  type LocalPlace,
  type RunAddress,
  type RunStore,
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
