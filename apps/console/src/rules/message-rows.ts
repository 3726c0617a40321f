/** The log lists events; a list of messages has one row for each, whatever happened to it. */
import { type LogEntry } from "@posthaste/client/api";
import { type Story, storyOf } from "./attempts.ts";

export type MessageRow = {
  readonly id: string;
  /** The newest event, which has what was published. */
  readonly message: LogEntry;
  readonly story: Story;
};

/** The messages of these events, each once, in their order. */
export const idsIn = (events: readonly LogEntry[]): readonly string[] => [
  ...new Set(events.map(({ messageId }) => messageId)),
];

/** `events`: all of these messages, the newest first. Of the oldest of a page that ends early, the beginning is not there. */
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
