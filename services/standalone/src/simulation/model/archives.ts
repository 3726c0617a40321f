/** Dead letters, the message log and URL groups in memory: what the simulation needs of them. */
import {
  createdEvent,
  type DeadLetter,
  type DlqId,
  type Endpoint,
  eventsOf,
  type Group,
  groupChunkId,
  type GroupChunkId,
  groupChunkMax,
  type LogState,
  type MessageId,
} from "@posthaste/domain";
import { type DeadLetters, type Groups, type MessageLog } from "@posthaste/ports";

export type ModelArchives = {
  readonly deadLetters: DeadLetters;
  readonly messageLog: MessageLog;
  readonly groups: Groups;
  /** The states that the log has of a message. */
  readonly statesOf: (id: MessageId) => readonly LogState[];
};

export function modelArchives(now: () => number): ModelArchives {
  const letters = new Map<DlqId, DeadLetter>();
  const events = new Map<MessageId, Map<string, LogState>>();
  const groups = new Map<string, Group>();
  const chunks = new Map<GroupChunkId, readonly Endpoint[]>();
  let versions = 0;

  const deadLetters: DeadLetters = {
    insert: async (given) => {
      for (const letter of given) if (!letters.has(letter.id)) letters.set(letter.id, letter);
    },
    list: async () => ({ items: [...letters.values()] }),
    get: async (tenant, id) => {
      const letter = letters.get(id);
      return letter?.message.tenant === tenant ? letter : undefined;
    },
    remove: async (_tenant, ids) => ids.filter((id) => letters.delete(id)).length,
    sweep: async () => 0,
  };

  const messageLog: MessageLog = {
    append: async (entries) => {
      for (const { message, fact } of entries) {
        const known = events.get(message.id) ?? new Map<string, LogState>();
        events.set(message.id, known);
        for (const { attempt, state } of [
          createdEvent(message.createdAt),
          ...(fact ? eventsOf(fact) : []),
        ]) {
          known.set(`${attempt} ${state}`, state);
        }
      }
    },
    list: async () => ({ items: [] }),
    sweep: async () => 0,
  };

  const groupPort: Groups = {
    get: async (tenant, name) => groups.get(`${tenant} ${name}`),
    list: async () => [...groups.values()],
    endpoints: async (_tenant, ids) => ids.flatMap((id) => chunks.get(id) ?? []),
    replace: async (tenant, name, version, endpoints) => {
      const key = `${tenant} ${name}`;
      const current = groups.get(key);
      if (current?.version !== version) return false;
      versions += 1;
      const ids: GroupChunkId[] = [];
      for (let at = 0; at < endpoints.length; at += groupChunkMax) {
        const id = groupChunkId(`${key} ${versions} ${at}`);
        chunks.set(id, endpoints.slice(at, at + groupChunkMax));
        ids.push(id);
      }
      const createdAt = current?.createdAt ?? now();
      groups.set(key, {
        tenant,
        name,
        createdAt,
        updatedAt: now(),
        version: versions,
        chunks: ids,
        endpointCount: endpoints.length,
      });
      return true;
    },
    remove: async (tenant, name) => {
      groups.delete(`${tenant} ${name}`);
    },
    sweep: async () => 0,
  };

  return {
    deadLetters,
    messageLog,
    groups: groupPort,
    statesOf: (id) => [...(events.get(id)?.values() ?? [])],
  };
}
