/**
 * What stands behind the ports in a simulation. The model leaves every follow-up to its callers, as stores over a network
 * do, and can be looked into and made to forget; the embedded store is the real one, shared as if it were a server.
 */
import {
  type DeduplicationKey,
  type LogState,
  type MessageId,
  randomLength,
  randomMessageId,
  type TenantId,
} from "@posthaste/domain";
import { openEmbedded } from "@posthaste/embedded";
import {
  type DeadLetters,
  type Groups,
  type Ids,
  type MessageLog,
  type MessageStore,
  type TokenStore,
} from "@posthaste/ports";
import { recordingLog, seededRandom } from "@posthaste/testing";
import { modelArchives } from "./model/archives.ts";
import { type Inspection, modelMessageStore } from "./model/message-store.ts";
import { modelTokenStore } from "./model/token-store.ts";
import { type World } from "./world/world.ts";

export type Backend = {
  readonly messages: MessageStore;
  readonly tokens: TokenStore;
  readonly deadLetters: DeadLetters;
  readonly messageLog: MessageLog;
  readonly groups: Groups;
  readonly ids: Ids;
  /** It writes the log's rows with the records themselves. */
  readonly writesLog: boolean;
  /** Of the model alone. */
  readonly model?: Model;
  statesOf(tenant: TenantId, id: MessageId): Promise<readonly LogState[]>;
  close(): Promise<void>;
};

export type Model = {
  readonly inspect: Inspection;
  /** All that may be forgotten is. */
  flushTokens(): void;
  /** The one process that uses it has died. */
  reopen(): void;
  forgetTombstones(): void;
  forgetKey(key: DeduplicationKey): void;
};

export function modelBackend(world: World): Backend {
  const now = (): number => world.now;
  const messages = modelMessageStore(now);
  const tokens = modelTokenStore(now);
  const { statesOf, ...archives } = modelArchives(now);
  const random = seededRandom(world.chanceOf().integer(0, 0xffff_ffff));
  let position = 0;
  return {
    messages: messages.port,
    tokens: tokens.port,
    ...archives,
    ids: { next: () => randomMessageId(++position, random.text(randomLength)) },
    writesLog: false,
    model: {
      inspect: messages.inspect,
      flushTokens: tokens.flush,
      reopen: () => {
        tokens.flushSlots();
        messages.reopen();
      },
      forgetTombstones: messages.forgetTombstones,
      forgetKey: tokens.forgetKey,
    },
    statesOf: async (_tenant, id) => statesOf(id),
    close: async () => undefined,
  };
}

/** All events of one message, however often it was retried, stand on one page. */
const logPageMax = 100;

export function embeddedBackend(world: World): Backend {
  const log = recordingLog(false);
  const {
    messages,
    tokens,
    deadLetters,
    groups,
    ids,
    log: messageLog,
    close,
  } = openEmbedded({
    dataDir: ":memory:",
    clock: { now: () => world.now, after: (ms, task) => world.after(ms, task) },
    random: seededRandom(world.chanceOf().integer(0, 0xffff_ffff)),
    log,
    // A transaction takes what has gathered since the last one.
    schedule: (task) => world.after(1, task),
  });
  return {
    messages,
    tokens,
    deadLetters,
    messageLog,
    groups,
    ids,
    writesLog: true,
    statesOf: async (tenant, id) => {
      const page = { limit: logPageMax, order: "earliestFirst" } as const;
      const { items } = await messageLog.list(tenant, { messageIds: [id] }, page);
      return items.map(({ event }) => event.state);
    },
    close,
  };
}
