/**
 * Follows the message log by one long poll for any number of tabs. The poll continues while a tab asks; a closed tab stops
 * asking, so no tab needs to sign off.
 */
import { call } from "./call.ts";

export type Told = {
  /** Counts the answers with events. */
  readonly nth: number;
  /** The messages with events. Undefined: any message may have some. */
  readonly messageIds: readonly string[] | undefined;
};

/** `seen`: the last count that the tab has received. `tell` is called once. */
export type Follow = (seen: number | undefined, tell: (told: Told) => void) => void;

const waitSeconds = 25;
const eventsMax = 1_000;
const afterFailureMs = 3_000;

export function createFollow(session: string, base: URL): Follow {
  let waiting: ((told: Told) => void)[] = [];
  let isAsking = false;
  let cursor: string | undefined;
  let nth = 0;

  const next = async (): Promise<Told> => {
    const query = {
      wait: waitSeconds,
      count: eventsMax,
      trimBody: 0,
      ...(cursor !== undefined && { cursor }),
    };
    try {
      const page = await call(session, { id: "listEvents", query }, undefined, base);
      cursor = page.cursor;
      if (page.events.length === 0) return { nth, messageIds: undefined };
      const ids = new Set(page.events.map(({ messageId }) => messageId));
      return { nth: ++nth, messageIds: [...ids] };
    } catch {
      // The tabs read the data that they show, and report the fault themselves.
      cursor = undefined;
      await new Promise((resolve) => setTimeout(resolve, afterFailureMs));
      return { nth, messageIds: undefined };
    }
  };

  const ask = async (): Promise<void> => {
    isAsking = true;
    const told = await next();
    isAsking = false;
    const tabs = waiting;
    waiting = [];
    for (const tell of tabs) tell(told);
  };

  return (seen, tell) => {
    // Events came while this tab was not listening.
    if (seen !== undefined && seen < nth) return tell({ nth, messageIds: undefined });
    waiting.push(tell);
    if (!isAsking) void ask();
  };
}
