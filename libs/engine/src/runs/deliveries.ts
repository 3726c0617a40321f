/**
 * The records that one change of a run makes. Reserves slots before the change for the deliveries that may be called at once, so
 * that the change's write claims them, as a publish does (docs/design/record#claimed-by-its-insert).
 */
import {
  accept,
  acceptClaimed,
  claimableAtInsert,
  isIn,
  limits,
  type Message,
  type MessageRecord,
  originHash,
  sentBytes,
  type TenantId,
} from "@posthaste/domain";
import { type LocalDelivery } from "@posthaste/ports";
import { type AnnouncePorts, announceUnheard } from "../publish/announce.ts";

export type DeliveryPorts = AnnouncePorts & { readonly local?: LocalDelivery };

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

  /**
   * Runs a change, and gives the slots back when it fails. The outcome is then unknown; records that it may have claimed are
   * found by their leases.
   */
  async within<T>(change: () => Promise<T>): Promise<T> {
    try {
      return await change();
    } catch (error) {
      this.#made = [];
      this.begin();
      throw error;
    }
  }

  /** Runs the claimed records here and announces the rest, once the change is durable. */
  begin(): void {
    const { local } = this.#ports;
    const left = [...this.#reserved];
    const rest: MessageRecord[] = [];
    for (const record of this.#made) {
      if (isIn(record, "claimed") && local) {
        left.splice(left.indexOf(record.message.url), 1);
        local.run(record);
      } else rest.push(record);
    }
    for (const url of left) local?.release(this.#tenant, originHash(url), 0);
    if (rest.length > 0) announceUnheard(this.#ports, rest);
  }

  /** Gives the slots back when the change has made no record. */
  drop(): void {
    this.#made = [];
    this.begin();
  }
}
