import { type LogEntry } from "@posthaste/client/api";
import { type Story, storyOf } from "./attempts.ts";

export type MessageRow = {
  readonly id: string;
  /** The newest event, which holds what was published. */
  readonly message: LogEntry;
  readonly story: Story;
};

/** Returns the distinct messages of these events, in order. */
export const idsIn = (events: readonly LogEntry[]): readonly string[] => [
  ...new Set(events.map(({ messageId }) => messageId)),
];

/** `events` are all events of these messages, newest first. If the page ends early, the oldest message lacks its beginning. */
export function rowsOf(ids: readonly string[], events: readonly LogEntry[]): readonly MessageRow[] {
  const byId = Map.groupBy(events, ({ messageId }) => messageId);
  return ids.flatMap((id) => {
    const own = byId.get(id) ?? [];
    const [message] = own;
    if (message === undefined) return [];
    const isWhole = own.at(-1)?.state === "CREATED";
    return [{ id, message, story: storyOf(own, isWhole) }];
  });
}
