/** The alarms of rows in memory: each row that is due rings, and its alarm moves ahead. */
import { allShards, isKnownFormat, limits } from "@posthaste/domain";

type Row = {
  readonly wakeAt?: number | undefined;
  readonly shard: number;
  readonly format?: number;
};

export type ArmedRows<R> = {
  readonly ring: (shards: readonly number[], limit?: number) => readonly R[];
  readonly next: (shards: readonly number[]) => number | undefined;
  /** Lets rows ring now that had rung without being worked: those that are left, if given. */
  readonly reopen: (isLeft?: (row: R) => boolean) => void;
};

/** Rows ring in the order in which `all` returns them. */
export function armedRows<R extends Row>(
  now: () => number,
  all: () => Iterable<R>,
  setAlarm: (row: R, wakeAt: number) => void,
): ArmedRows<R> {
  const armedIn = (shards: readonly number[]): readonly R[] =>
    [...all()].filter(
      (row) => row.wakeAt !== undefined && shards.includes(row.shard) && isKnownFormat(row),
    );
  return {
    ring: (shards, limit) => {
      const due = armedIn(shards).filter(({ wakeAt = Infinity }) => wakeAt <= now());
      const rung = due.slice(0, limit);
      for (const row of rung) setAlarm(row, now() + limits.ringAheadMs);
      return rung;
    },
    next: (shards) => {
      const first = Math.min(...armedIn(shards).map(({ wakeAt = Infinity }) => wakeAt));
      return first < Infinity ? first : undefined;
    },
    reopen: (isLeft = () => true) => {
      for (const row of armedIn(allShards))
        if (isLeft(row)) setAlarm(row, Math.min(row.wakeAt ?? Infinity, now()));
    },
  };
}

type Ordered = Pick<Row, "wakeAt">;

export const byAlarm = (a: Ordered, b: Ordered): number => (a.wakeAt ?? 0) - (b.wakeAt ?? 0);
