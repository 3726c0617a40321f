/**
 * The stores behind the ports in a simulation. The model leaves every follow-up to its callers, as stores over a network do, and can be
 * inspected and made to forget; the embedded store is the real one, shared as if it were a server.
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
import {
  type DeadLetters,
  type Groups,
  type Ids,
  type MessageLog,
  type RecordPorts,
  type Roster,
  type Schedules,
  type TokenStore,
} from "@posthaste/ports";
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
import { type World } from "./world/world.ts";

export type Backend = RecordPorts & {
  readonly tokens: TokenStore;
  readonly deadLetters: DeadLetters;
  readonly messageLog: MessageLog;
  readonly groups: Groups;
  readonly schedules: Schedules;
  readonly roster: Roster;
  readonly ids: Ids;
  /** Present in the model only. */
  readonly model?: Model;
  statesOf(tenant: TenantId, id: MessageId): Promise<readonly LogState[]>;
  close(): Promise<void>;
};

export type Model = {
  readonly inspect: Inspection;
  readonly schedules: () => readonly Schedule[];
  flushTokens(): void;
  /** Opens the store again after its one process has died. */
  reopen(): void;
  forgetTombstones(): void;
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
      flushTokens: tokens.flush,
      reopen: () => {
        tokens.flushSlots();
        records.reopen();
      },
      forgetTombstones: records.forgetTombstones,
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

/** All events of one message, however often it was retried, fit on one page. */
const logPageMax = 100;

export function embeddedBackend(world: World): Backend {
  const log = recordingLog(false);
  const {
    records,
    keptBodies,
    alarms,
    flowLanes,
    queues,
    fanOuts,
    bulkActions,
    runs,
    runLog,
    tokens,
    deadLetters,
    groups,
    schedules,
    ids,
    log: messageLog,
    close,
  } = openEmbedded({
    dataDir: ":memory:",
    clock: world.storeClock(),
    random: seededRandom(world.chanceOf().integer(0, 0xffff_ffff)),
    log,
    // A transaction takes what has gathered since the last one.
    schedule: (task) => world.after(1, task),
  });
  return {
    records,
    keptBodies,
    alarms,
    flowLanes,
    queues,
    fanOuts,
    bulkActions,
    runs,
    runLog,
    tokens,
    deadLetters,
    messageLog,
    groups,
    schedules,
    roster: modelRoster(() => world.now),
    ids,
    statesOf: async (tenant, id) => {
      const page = { limit: logPageMax, order: "earliestFirst" } as const;
      const { items } = await messageLog.list(tenant, { messageIds: [id] }, page);
      return items.map(({ event }) => event.state);
    },
    close,
  };
}
