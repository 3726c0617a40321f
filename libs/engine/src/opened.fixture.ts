/** The ports of one process over the embedded adapters, in memory. The test sets time and chance. */
import {
  accept,
  type InState,
  isIn,
  type Message,
  type MessageRecord,
  type Owner,
  owner,
  type Sha256Hex,
  type TenantId,
} from "@posthaste/domain";
import { type EmbeddedOptions, openEmbedded } from "@posthaste/embedded";
import {
  type EventBus,
  type Hint,
  type LocalDelivery,
  type StorePorts,
  type Tenant,
  type SettledEvent,
  type TokenStore,
  type WakeEvent,
} from "@posthaste/ports";
import {
  aMessage,
  type MessageOverrides,
  type RecordingLog,
  type VirtualClock,
  virtualClock,
  sha256,
} from "@posthaste/testing";
import { openInMemory } from "@posthaste/testing/in-memory";
import { type Published } from "./publish/accept.ts";
import { childrenOf, type PublishedGroup } from "./publish/group-publish.ts";

export type Ports = StorePorts & {
  /** Empty: every tenant counts as open. */
  readonly tenants: ReadonlyMap<TenantId, Tenant>;
  readonly tokens: TokenStore;
  readonly bus: EventBus;
  readonly clock: VirtualClock;
  readonly sha256: Sha256Hex;
  readonly log: RecordingLog;
};

export const childrenIn = (ports: Ports, of: PublishedGroup): Promise<readonly Published[]> =>
  allOf(childrenOf(ports, of));

export async function allOf<T>(pages: AsyncIterable<readonly T[]>): Promise<readonly T[]> {
  const items: T[] = [];
  for await (const page of pages) items.push(...page);
  return items;
}

export function open(
  clock = virtualClock(),
  given: Pick<EmbeddedOptions, "reserveBytes" | "space"> & { readonly dataDir?: string } = {},
): Ports {
  const { log, store } = openInMemory((parts) => openEmbedded({ ...parts, ...given }), clock);
  return { ...store, clock, log, sha256, tenants: new Map() };
}

export type Heard = {
  readonly due: readonly Hint[];
  readonly wakes: readonly WakeEvent[];
  readonly settled: readonly SettledEvent[];
};

export async function listen({ bus }: Ports): Promise<Heard> {
  const due: Hint[] = [];
  const wakes: WakeEvent[] = [];
  const settled: SettledEvent[] = [];
  await bus.subscribe("message.due", "test", async (events) => void due.push(...events));
  await bus.subscribe("scheduler.wake", "test", async (events) => void wakes.push(...events));
  await bus.subscribe("message.settled", "test", async (events) => void settled.push(...events));
  return { due, wakes, settled };
}

export async function insert(ports: Ports, overrides: MessageOverrides = {}): Promise<Message> {
  const message = aMessage({ id: ports.ids.next(), now: ports.clock.now(), ...overrides });
  await ports.records.insert([{ record: accept(message, ports.clock.now()) }], "new");
  return message;
}

export async function insertClaimed(
  ports: Ports,
  overrides: MessageOverrides = {},
): Promise<InState<"claimed">> {
  const message = await insert(ports, overrides);
  const [record] = await ports.records.claim([message.id], owner("test"));
  if (!record) throw new Error(`${message.id} could not be claimed`);
  return record;
}

export async function read(
  { records }: Pick<Ports, "records">,
  { id, tenant }: Pick<Message, "id" | "tenant">,
): Promise<MessageRecord | undefined> {
  const [record] = await records.get(tenant, [id]);
  return record;
}

export async function readIn<K extends MessageRecord["state"]["kind"]>(
  ports: Pick<Ports, "records">,
  message: Pick<Message, "id" | "tenant">,
  kind: K,
): Promise<InState<K>> {
  const record = await read(ports, message);
  if (!record || !isIn(record, kind))
    throw new Error(`${message.id} is ${record?.state.kind ?? "not there"}, not ${kind}`);
  return record;
}

/** A deliverer that only records the calls made to it. */
export type LocalProbe = LocalDelivery & {
  readonly owner: Owner;
  readonly taken: number;
  readonly ran: readonly InState<"claimed">[];
  readonly aborted: readonly Message["id"][];
};

export function aLocalDelivery(slots: number): LocalProbe {
  let free = slots;
  const ran: InState<"claimed">[] = [];
  const aborted: Message["id"][] = [];
  const here = owner("here");
  return {
    owner: here,
    reserve: () => {
      if (free === 0) return undefined;
      free -= 1;
      return {
        owner: here,
        run: (record) => void ran.push(record),
        release: () => void (free += 1),
      };
    },
    waitForPlace: () => undefined,
    abort: (id) => aborted.push(id) > 0,
    get taken() {
      return slots - free;
    },
    ran,
    aborted,
  };
}

export function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}

/** Waits until everything has happened that can happen without time passing. */
export const rest = ({ clock }: { readonly clock: VirtualClock }): Promise<void> =>
  clock.advance(0);
