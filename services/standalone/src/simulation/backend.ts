/** What stands behind the ports in a simulation: the stores, and how to look into them and to make them forget. */
import {
  type DeduplicationKey,
  type LogState,
  type MessageId,
  randomLength,
  randomMessageId,
} from "@posthaste/domain";
import { type DeadLetters, type Groups, type Ids, type MessageLog, type MessageStore, type TokenStore } from "@posthaste/ports";
import { seededRandom } from "@posthaste/testing";
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
  readonly inspect: Inspection;
  statesOf(id: MessageId): readonly LogState[];
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
  const archives = modelArchives(now);
  const random = seededRandom(world.chanceOf().integer(0, 0xffff_ffff));
  let position = 0;
  return {
    messages: messages.port,
    tokens: tokens.port,
    ...archives,
    ids: { next: () => randomMessageId(++position, random.text(randomLength)) },
    inspect: messages.inspect,
    flushTokens: tokens.flush,
    reopen: () => {
      tokens.flushSlots();
      messages.reopen();
    },
    forgetTombstones: messages.forgetTombstones,
    forgetKey: tokens.forgetKey,
  };
}
