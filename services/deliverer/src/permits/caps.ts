/**
 * Caps: the number of calls that a tenant's plan allows at once over all deliverers. Owned by the deliverer.
 *
 * (1) A tenant without a cap costs nothing here.
 * (2) Each call of a capped tenant holds a slot of that tenant's lane in the token store, from before its claim until its end. The slot
 *     is renewed with the claim and is free when its lease ends.
 * (3) A lane that the token store has forgotten begins without slots; running calls put theirs back with their next renewal. While the
 *     token store is away, each deliverer allows the whole cap by itself.
 */
import { callsOf, limitOf, type MessageId, type TenantId } from "@posthaste/domain";
import { type Tenants } from "@posthaste/engine";
import { type Clock, type Log, type Tenant, type TokenStore } from "@posthaste/ports";

export type CapPorts = {
  readonly tenants: Pick<Tenants, "find" | "get">;
  readonly tokens: Pick<TokenStore, "acquire" | "hold" | "release" | "restore">;
  readonly clock: Clock;
  readonly log: Log;
};

/** After a refusal the token store is asked again this soon: another deliverer may have given a slot back. */
const askAgainMs = 250;
const noRate = { periodMs: 1 } as const;

export class Caps {
  readonly #ports: CapPorts;
  readonly #goOn: () => void;
  readonly #held = new Map<TenantId, Set<MessageId>>();
  readonly #refusedUntil = new Map<TenantId, number>();

  /** `goOn` is called when a slot may be free. */
  constructor(ports: CapPorts, goOn: () => void) {
    this.#ports = ports;
    this.#goOn = goOn;
  }

  /** Reports whether the tenant has a cap; true also for an unknown tenant. */
  isCapped(tenant: TenantId): boolean {
    const known = this.#ports.tenants.get(tenant);
    return !known || capOf(known) !== undefined;
  }

  /** Reports whether to ask for slots. After a refusal this is false for a moment, or until the tenant gives a slot back. */
  mayTake(tenant: TenantId): boolean {
    if (this.#refusedUntil.size === 0) return true;
    const until = this.#refusedUntil.get(tenant);
    if (until === undefined) return true;
    if (until > this.#ports.clock.passedMs()) return false;
    this.#refusedUntil.delete(tenant);
    return true;
  }

  /** Takes slots for messages of one tenant. Resolves to the messages that got one. */
  async take(tenant: TenantId, ids: readonly MessageId[]): Promise<ReadonlySet<MessageId>> {
    const known = await this.#ports.tenants.find(tenant).catch(() => undefined);
    const cap = known && capOf(known);
    if (cap === undefined) return new Set(ids);
    const granted = new Set(await this.#granted(tenant, ids, cap));
    if (granted.size < ids.length)
      this.#refusedUntil.set(tenant, this.#ports.clock.passedMs() + askAgainMs);
    if (granted.size > 0) this.#held.set(tenant, this.#heldBy(tenant).union(granted));
    return granted;
  }

  /** Renews the slots of calls whose leases were renewed just now. */
  async hold(
    calls: readonly { readonly tenant: TenantId; readonly id: MessageId }[],
  ): Promise<void> {
    if (this.#held.size === 0) return;
    const held = calls.filter(({ tenant, id }) => this.#heldBy(tenant).has(id));
    const byTenant = Map.groupBy(held, ({ tenant }) => tenant);
    await Promise.all(
      [...byTenant].map(([tenant, its]) =>
        this.#ports.tokens.hold(
          callsOf(tenant),
          its.map(({ id }) => id),
        ),
      ),
    );
  }

  free(tenant: TenantId, id: MessageId): void {
    if (this.#held.size === 0) return;
    const held = this.#heldBy(tenant);
    if (!held.delete(id)) return;
    if (held.size === 0) this.#held.delete(tenant);
    void this.#ports.tokens
      .release(callsOf(tenant), [id])
      .catch((error: unknown) => this.#ports.log.warn("cap.kept", { id, error }))
      .then(() => {
        this.#refusedUntil.delete(tenant);
        this.#goOn();
      });
  }

  #heldBy(tenant: TenantId): Set<MessageId> {
    return this.#held.get(tenant) ?? new Set();
  }

  async #granted(
    tenant: TenantId,
    ids: readonly MessageId[],
    cap: number,
  ): Promise<readonly MessageId[]> {
    const { log, tokens } = this.#ports;
    const lane = callsOf(tenant);
    const limits = { parallelism: cap, ...noRate };
    try {
      const acquired = await tokens.acquire(lane, ids, limits);
      if (!acquired.isUnknown) return acquired.granted;
      await tokens.restore(lane, [], undefined);
      return (await tokens.acquire(lane, ids, limits)).granted;
    } catch (error) {
      log.warn("cap.unshared", { tenant, error });
      return ids.slice(0, Math.max(0, cap - this.#heldBy(tenant).size));
    }
  }
}

const capOf = ({ plan }: Tenant): number | undefined => limitOf(plan, "parallelismMax");
