/** Holds what the process keeps in memory about its records. All of it is in the store, too. */
import { isTooFarAhead, type MessageRecord, TurnoverMap } from "@posthaste/domain";

export type Finished = {
  /** `isWhole`: the row stays when its record is removed. */
  add(position: number, endedAt: number, isWhole?: boolean): void;
  /** Reports whether the whole row at `position` is still read as a record. */
  readonly standsWhole: (position: number) => boolean;
  /**
   * Returns at most `limit` positions that ended before `endedBefore`, or by a clock that was ahead of `now`. `upTo`
   * says what to drop once they are removed.
   */
  first(
    at: { readonly endedBefore: number; readonly now: number },
    limit: number,
  ): { readonly positions: number[]; readonly upTo: number };
  drop(upTo: number): void;
  /** Ends the reading of these whole rows as records. */
  end(wholes: readonly number[]): void;
};

/**
 * Finished records in the order of their end, in memory: `removeFinished` takes from here. An entry may be removed already or not yet
 * removable; the rows decide. Rebuilt at start.
 */
export function openFinished(): Finished {
  let positions: number[] = [];
  let ends: number[] = [];
  let head = 0;
  let dropped = 0;
  const wholes = new Set<number>();
  return {
    add: (position, endedAt, isWhole) => {
      positions.push(position);
      ends.push(endedAt);
      if (isWhole) wholes.add(position);
    },
    standsWhole: (position) => wholes.has(position),
    first: ({ endedBefore, now }, limit) => {
      const isOld = (endedAt: number): boolean =>
        endedAt < endedBefore || isTooFarAhead(endedAt, 0, now);
      let to = head;
      while (to < ends.length && to - head < limit && isOld(ends[to] ?? now)) to++;
      return { positions: positions.slice(head, to), upTo: dropped + to };
    },
    drop: (upTo) => {
      const to = Math.max(head, upTo - dropped);
      for (const gone of positions.slice(head, to)) wholes.delete(gone);
      head = to;
      if (head < compactAt || head * 2 < positions.length) return;
      positions = positions.slice(head);
      ends = ends.slice(head);
      dropped += head;
      head = 0;
    },
    end: (gone) => {
      for (const position of gone) wholes.delete(position);
    },
  };
}

const compactAt = 1_024;

export type Backlog = {
  add(tenant: number, n: number): void;
  of(tenant: number): number;
};

/** Counts unfinished records per tenant, commit by commit. Exact. */
export function openBacklog(): Backlog {
  const counts = new Map<number, number>();
  return {
    add: (tenant, n) => void counts.set(tenant, (counts.get(tenant) ?? 0) + n),
    of: (tenant) => counts.get(tenant) ?? 0,
  };
}

export type Recent = {
  add(position: number, record: MessageRecord): void;
  get(position: number): MessageRecord | undefined;
  drop(position: number): void;
};

const messagesMax = 10_000;
const bytesMax = 32 * 1024 * 1024;
/** The approximate size of a message without its body. */
const headBytes = 1_024;

/**
 * Records that were inserted a moment ago and wait for a slot. They are not read back and parsed again: a claim tries the kept record
 * first, and succeeds if its row is unchanged. Everything here is in the store too. Bounded, oldest out first.
 */
export function openRecent(): Recent {
  const kept = new TurnoverMap<number, MessageRecord>();
  let bytes = 0;

  const drop = (position: number): void => {
    const record = kept.get(position);
    if (!record) return;
    kept.delete(position);
    bytes -= record.message.body.length + headBytes;
  };

  return {
    add: (position, record) => {
      drop(position);
      kept.set(position, record);
      bytes += record.message.body.length + headBytes;
      for (const oldest of kept.keys()) {
        if (kept.size <= messagesMax && bytes <= bytesMax) return;
        drop(oldest);
      }
    },
    get: (position) => kept.get(position),
    drop,
  };
}
