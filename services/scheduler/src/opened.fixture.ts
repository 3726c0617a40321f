/** The ports of a scheduler over the embedded adapters, in memory. The test sets time and chance. */
import { afterEach } from "@jest/globals";
import {
  accept,
  allShards,
  type InState,
  type Message,
  type MessageId,
  owner,
  settleAttempt,
  type StateKind,
} from "@posthaste/domain";
import { openEmbedded } from "@posthaste/embedded";
import {
  type Alarms,
  type Clock,
  type EventBus,
  type Hint,
  type Records,
  StoreError,
} from "@posthaste/ports";
import {
  aMessage,
  anAnswer,
  anAttempt,
  type MessageOverrides,
  type RecordingLog,
  type VirtualClock,
  withOwnTimers,
  sha256,
} from "@posthaste/testing";
import { openInMemory } from "@posthaste/testing/in-memory";
import { Scheduler, type SchedulerPorts } from "./scheduler.ts";

export type Ports = SchedulerPorts & {
  readonly clock: VirtualClock;
  readonly log: RecordingLog;
  readonly newId: () => MessageId;
};

export function open(): Ports {
  const { clock, log, store } = openInMemory(openEmbedded);
  const newId = (): MessageId => store.ids.next();
  return {
    ...{ ...store, clock: withOwnTimers(clock) },
    ...{ log, newId, sha256, tenants: new Map() },
  };
}

const started: Scheduler[] = [];
afterEach(async () => {
  for (const scheduler of started.splice(0)) await scheduler.stop();
});

/** Starts a scheduler, which is stopped after the test. */
export async function start(ports: Ports, shards = allShards): Promise<Scheduler> {
  const scheduler = new Scheduler(owning(ports, shards));
  started.push(scheduler);
  await scheduler.start();
  await rest(ports);
  return scheduler;
}

function owning(ports: Ports, shards: readonly number[]): Ports {
  const { bus } = ports;
  const subscribe: EventBus["subscribe"] = (topic, group, handle, options) =>
    bus.subscribe(topic, group, handle, { owns: () => options?.owns?.(shards) });
  return { ...ports, bus: { ...bus, subscribe } };
}

export async function insert(ports: Ports, overrides: MessageOverrides = {}): Promise<Message> {
  const message = aMessage({ id: ports.newId(), now: ports.clock.now(), ...overrides });
  await ports.records.insert([{ record: accept(message, ports.clock.now()) }], "new");
  return message;
}

export async function claim(ports: Ports, { id }: Message): Promise<InState<"claimed">> {
  const [record] = await ports.records.claim([id], owner("test"));
  if (!record) throw new Error(`${id} could not be claimed`);
  return record;
}

/** Delivers a message now, as a deliverer would write it, without publishing on the bus. */
export async function deliver(ports: Ports, message: Message): Promise<void> {
  const record = await claim(ports, message);
  const attempt = anAttempt(anAnswer(200), { endedAt: ports.clock.now() });
  await ports.records.settle([
    settleAttempt(record, attempt, { chance: 0, retryDelayMs: undefined }),
  ]);
}

export async function stateOf(
  { records }: Ports,
  { id, tenant }: Pick<Message, "id" | "tenant">,
): Promise<StateKind | undefined> {
  const [record] = await records.get(tenant, [id]);
  return record?.state.kind;
}

/** Collects hints as a deliverer hears them, with their times. */
export async function hintsOf({ bus, clock }: Ports) {
  const heard: { readonly id: MessageId; readonly at: number }[] = [];
  await bus.subscribe("message.due", "test", async (hints: readonly Hint[]) => {
    heard.push(...hints.map(({ id }) => ({ id, at: clock.now() })));
  });
  return heard;
}

/** A clock with the times for which its timers are armed now. */
export function watchedClock(clock: VirtualClock): {
  clock: VirtualClock;
  armed: readonly number[];
} {
  const armed: number[] = [];
  const after: Clock["after"] = (ms, task) => {
    const at = clock.now() + ms;
    const drop = (): void => {
      const place = armed.indexOf(at);
      if (place >= 0) armed.splice(place, 1);
    };
    armed.push(at);
    const cancel = clock.after(ms, () => {
      drop();
      task();
    });
    return () => {
      drop();
      cancel();
    };
  };
  const watched: VirtualClock = {
    ...clock,
    after,
    get armed() {
      return clock.armed;
    },
  };
  return { clock: watched, armed };
}

export const away = new StoreError("unavailable", "the store is away");

export const withRecords = (ports: Ports, records: Partial<Records>): Ports => ({
  ...ports,
  records: { ...ports.records, ...records },
});

export const withAlarms = (ports: Ports, alarms: Partial<Alarms>): Ports => ({
  ...ports,
  alarms: { ...ports.alarms, ...alarms },
});

/** Waits until everything has happened that can happen without time passing. */
export const rest = ({ clock }: { readonly clock: VirtualClock }): Promise<void> =>
  clock.advance(0);
