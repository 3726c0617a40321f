/**
 * The stores behind the ports in a simulation. The model leaves every follow-up to its callers, as stores over a
 * network do, and can be inspected and made to forget; the embedded store is the real one, shared as if it were a
 * server.
 */
import {
  type DeduplicationKey,
  type LogState,
  type MessageId,
  randomLength,
  randomMessageId,
  type Schedule,
  type TenantId,
} from "@posthaste/domain";
import { openEmbedded } from "@posthaste/embedded";
import { type MessageLog, type TokenStore } from "@posthaste/ports";
import { recordingLog, seededRandom } from "@posthaste/testing";
import { modelDeadLetters } from "./model/dead-letters.ts";
import { overDisk } from "./model/full-disk.ts";
import { modelGroups } from "./model/groups.ts";
import { modelMessageLog } from "./model/message-log.ts";
import { type QueueHalves } from "./model/queues.ts";
import { type Inspection, modelRecords } from "./model/records.ts";
import { modelRoster } from "./model/roster.ts";
import { modelSchedules } from "./model/schedules.ts";
import { modelTokenStore } from "./model/token-store.ts";
import { type Stores } from "./stores.ts";
import { type Life } from "./world/node.ts";
import { type World } from "./world/world.ts";

export type Backend = Stores & {
  readonly tokens: TokenStore;
  /** Makes the tokens forget all, if they are apart. */
  readonly flushTokens?: () => void;
  readonly model?: Model;
  /** Returns the ports through which a process reaches its documents. Absent for stores that do each call in one step. */
  readonly reachedBy?: (life: Life) => Stores;
  /** A fan-out stays for as long as the kept bodies of its children, which it holds. */
  readonly keepsFanOuts?: true;
  statesOf(tenant: TenantId, id: MessageId): Promise<readonly LogState[]>;
  close(): Promise<void>;
};

export type Model = {
  readonly inspect: Inspection;
  readonly schedules: () => readonly Schedule[];
  /** Opens the store again after its one process has died. */
  reopen(): void;
  forgetLog(): void;
  /** Judges leases by the clock as it was set a moment ago. */
  trustSetting(): void;
  forgetKey(key: DeduplicationKey): void;
  readonly queueHalves: QueueHalves;
  fillDisk(): void;
};

export function modelBackend(world: World): Backend {
  const clock = world.storeClock();
  const now = (): number => clock.now();
  const schedules = modelSchedules(now);
  const log = modelMessageLog();
  const records = modelRecords(clock, schedules, log);
  const tokens = modelTokenStore(now);
  const random = seededRandom(world.chanceOf().integer(0, 0xffff_ffff));
  const positionAt = (time: number): number => time * 1_000;
  let position = 0;
  const { ports, fill } = overDisk({
    ...records.ports,
    groups: modelGroups(now, records.inspect.isInUse),
    schedules: schedules.port,
  });
  return {
    ...ports,
    tokens: tokens.port,
    flushTokens: tokens.flush,
    deadLetters: modelDeadLetters(),
    messageLog: log.port,
    roster: modelRoster(now),
    ids: {
      next: () => {
        position = Math.max(position + 1, positionAt(now()));
        return randomMessageId(position, random.text(randomLength));
      },
      positionAt,
    },
    model: {
      inspect: records.inspect,
      schedules: schedules.all,
      reopen: () => {
        tokens.flushSlots();
        records.reopen();
      },
      forgetLog: records.forgetLog,
      trustSetting: records.trustSetting,
      forgetKey: tokens.forgetKey,
      queueHalves: records.queueHalves,
      fillDisk: fill,
    },
    statesOf: async (_tenant, id) => log.statesOf(id),
    close: async () => undefined,
  };
}

export function embeddedBackend(world: World): Backend {
  const store = openEmbedded({
    dataDir: ":memory:",
    clock: world.storeClock(),
    random: seededRandom(world.chanceOf().integer(0, 0xffff_ffff)),
    log: recordingLog(false),
    // A transaction contains everything that has gathered since the last one.
    schedule: (task) => world.after(1, task),
  });
  return {
    ...store,
    roster: modelRoster(() => world.now),
    statesOf: (tenant, id) => statesIn(store.messageLog, tenant, id),
  };
}

/** All events of one message, however often it was retried, fit on one page. */
const logPageMax = 100;

export async function statesIn(
  log: MessageLog,
  tenant: TenantId,
  id: MessageId,
): Promise<readonly LogState[]> {
  const page = { limit: logPageMax, order: "earliestFirst" } as const;
  const { items } = await log.list(tenant, { messageIds: [id] }, page);
  return items.map(({ event }) => event.state);
}
