/**
 * Finished records in the order of their end, in memory: `removeFinished` takes from here. An entry may be gone already or not yet
 * removable; the rows decide. Rebuilt at start.
 */
import { isTooFarAhead } from "@posthaste/domain";

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
