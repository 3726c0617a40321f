/**
 * The records that one change of a run makes. Reserves slots before the change for the deliveries that may be called at once, so
 * that the change's write claims them, as a publish does (docs/design/record#claimed-by-its-insert).
 */
import {
  accept,
  acceptClaimed,
  claimableAtInsert,
  type InRun,
  isIn,
  limits,
  type Message,
  type MessageRecord,
  originHash,
  type Run,
  sentBytes,
  type TenantId,
} from "@posthaste/domain";
import {
  type Decision,
  type LocalDelivery,
  type RunAddress,
  type RunStore,
} from "@posthaste/ports";
import { type AnnouncePorts, announceUnheard } from "../publish/announce.ts";

export type DeliveryPorts = AnnouncePorts & {
  readonly local?: LocalDelivery;
  readonly runs: Pick<RunStore, "change">;
};

type RunRef = Pick<InRun, "key" | "root">;

export class Deliveries {
  readonly #ports: DeliveryPorts;
  readonly #tenant: TenantId;
  /** The URLs of possible deliveries for which a slot is reserved. */
  readonly #reserved: readonly string[];
  #made: readonly MessageRecord[] = [];

  /** `urls`: one for each delivery that the change may make. */
  constructor(ports: DeliveryPorts, tenant: TenantId, urls: readonly string[]) {
    const { local } = ports;
    this.#ports = ports;
    this.#tenant = tenant;
    this.#reserved = urls.filter((url) => local?.reserve(tenant, originHash(url), 0));
  }

  /** Makes the records. The last call counts, since a change may be decided again. */
  of(messages: readonly Message[], now: number): readonly MessageRecord[] {
    const { bus, local } = this.#ports;
    const free = [...this.#reserved];
    this.#made = messages.map((message) => {
      const isLight = sentBytes(message) <= limits.lightBytesMax;
      const mayClaim = local && isLight && claimableAtInsert(message);
      const at = mayClaim ? free.indexOf(message.url) : -1;
      if (!local || at < 0) return accept(message, now, !bus.isUp());
      free.splice(at, 1);
      return acceptClaimed(message, local.owner, now);
    });
    return this.#made;
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

  /** Begins deliveries, and gives back the slots that are left. */
  #end(made: readonly MessageRecord[]): void {
    const { local } = this.#ports;
    const left = [...this.#reserved];
    const rest: MessageRecord[] = [];
    for (const record of made) {
      if (isIn(record, "claimed") && local) {
        left.splice(left.indexOf(record.message.url), 1);
        local.run(record);
      } else rest.push(record);
    }
    for (const url of left) local?.release(this.#tenant, originHash(url), 0);
    if (rest.length > 0) announceUnheard(this.#ports, rest);
  }
}
