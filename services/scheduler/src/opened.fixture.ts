/** The ports of a scheduler over the embedded adapters, in memory, with time and chance of the test. */
import { createHash } from "node:crypto";
import { afterEach } from "@jest/globals";
import {
  accept,
  type InState,
  type Message,
  type MessageId,
  owner,
  settleAttempt,
  type Sha256Hex,
  type StateKind,
  type TenantId,
} from "@posthaste/domain";
import { openEmbedded } from "@posthaste/embedded";
import { type Clock, type Hint, type Records, type Alarms, type Tenant } from "@posthaste/ports";
import {
  aMessage,
  anAnswer,
  anAttempt,
  type MessageOverrides,
  type RecordingLog,
  recordingLog,
  seededRandom,
  type VirtualClock,
  virtualClock,
  withOwnTimers,
} from "@posthaste/testing";
import { type SchedulerPorts } from "./scheduler.ts";

export type Ports = SchedulerPorts & {
  readonly clock: VirtualClock;
  readonly log: RecordingLog;
  readonly newId: () => MessageId;
};

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

export function open(): Ports {
  const clock = virtualClock();
  const log = recordingLog();
  const embedded = openEmbedded({
    dataDir: ":memory:",
    clock,
    random: seededRandom(1),
    log,
    // Commits come in the turn that asked for them, so that time stands still until a step's effects have all happened.
    schedule: queueMicrotask,
  });
  closers.push(embedded.close);
  const { bus, deadLetters, groups, ids, schedules, tokens } = embedded;
  const tenants = new Map<TenantId, Tenant>();
  const { alarms, bulkActions, fanOuts, flowLanes, keptBodies, queues, records } = embedded;
  const { runs, runLog } = embedded;
  const stored = {
    ...{ alarms, bulkActions, fanOuts, flowLanes, keptBodies },
    ...{ queues, records, runs, runLog },
  };
  const sha256: Sha256Hex = (value) => createHash("sha256").update(value).digest("hex");
  const newId = (): MessageId => ids.next();
  const own = withOwnTimers(clock);
  return {
    ...stored,
    ...{
      bus,
      clock: own,
      deadLetters,
      groups,
      ids,
      log,
      newId,
      schedules,
      sha256,
      tenants,
      tokens,
    },
  };
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

export const withRecords = (ports: Ports, records: Partial<Records>): Ports => ({
  ...ports,
  records: { ...ports.records, ...records },
});

export const withAlarms = (ports: Ports, alarms: Partial<Alarms>): Ports => ({
  ...ports,
  alarms: { ...ports.alarms, ...alarms },
});

/** Resolves when everything that can happen without time moving has happened. */
export const rest = ({ clock }: { readonly clock: VirtualClock }): Promise<void> =>
  clock.advance(0);
