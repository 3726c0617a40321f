/**
 * Limits long answers, which are made and sent piece by piece: how many pieces the streams of a process make at once,
 * and how much text is made but not sent, so that callers that read slowly, or not at all, cost little.
 *
 * (1) A stream holds a permit while it makes a piece. Permits are given while the unsent text is below `charsMax`, at most
 *     `readsMax` at once, and to one owner at most its share of both.
 * (2) A stream takes a permit before its first read, and no port is asked for a page without a permit: `ReadPermit` is made only here.
 * (3) Waiting streams get the next permit that their owner may have, in the order in which they began to wait. Among
 *     the streams of one owner, those that have begun go first, since each of them keeps the data that it has read.
 */
import { type ReadPermit } from "@posthaste/contract";
import { fault, type Fault, limits } from "@posthaste/domain";

export type AnswerLimiter = {
  /** Returns fault `overloaded` when too many streams are under way, in total or for this owner. */
  open(owner: string): AnswerStream | Fault;
};

export type AnswerStream = {
  withPermit<T>(work: (permit: ReadPermit) => Promise<T>): Promise<T>;
  /** Makes a piece with a permit. Its text counts as unsent until `sent` is called; calling it again does nothing. */
  piece(make: (permit: ReadPermit) => Promise<Made>): Promise<Piece>;
  /** May be called again. */
  close(): void;
};

/** A piece. Until the last piece, a stream keeps the data of one read, beside its text. */
type Made = { readonly text: string; readonly isLast: boolean };
type Piece = { readonly text: string; readonly sent: () => void };

export type AnswerLimits = {
  readonly charsMax: number;
  readonly charsPerOwnerMax: number;
  readonly readsMax: number;
  readonly readsPerOwnerMax: number;
  readonly streamsMax: number;
  readonly streamsPerOwnerMax: number;
};

const bounds: AnswerLimits = {
  charsMax: 32 * 1024 * 1024,
  charsPerOwnerMax: 8 * 1024 * 1024,
  // A piece may be a letter of 10 MiB, as it is read, as text and as bytes: all fit into a container of 512 MiB.
  readsMax: 8,
  readsPerOwnerMax: 3,
  streamsMax: 2_048,
  streamsPerOwnerMax: 256,
};

type GiveBack = () => void;
type Waiting = {
  readonly owner: string;
  readonly hasBegun: boolean;
  readonly start: (release: GiveBack) => void;
};

export function createAnswerLimiter(changed: Partial<AnswerLimits> = {}): AnswerLimiter {
  const limit = { ...bounds, ...changed };
  const streams = countsByOwner(limit.streamsMax, limit.streamsPerOwnerMax);
  const reads = countsByOwner(limit.readsMax, limit.readsPerOwnerMax);
  const chars = countsByOwner(limit.charsMax, limit.charsPerOwnerMax);
  // Bounded by the number of streams: each waits once.
  const waiting: Waiting[] = [];

  const mayRead = (owner: string): boolean => !reads.isFullFor(owner) && !chars.isFullFor(owner);

  async function takePermit(owner: string, hasBegun: boolean): Promise<GiveBack> {
    if (mayRead(owner)) return reads.take(owner, 1);
    return new Promise((start) => waiting.push({ owner, hasBegun, start }));
  }

  function nextAllowed(): Waiting | undefined {
    const first = waiting.find(({ owner }) => mayRead(owner));
    return waiting.find(({ owner, hasBegun }) => owner === first?.owner && hasBegun) ?? first;
  }

  function startWaiting(): void {
    // Each turn except the last starts one stream.
    for (let next = nextAllowed(); next; next = nextAllowed()) {
      waiting.splice(waiting.indexOf(next), 1);
      next.start(reads.take(next.owner, 1));
    }
  }

  return {
    open: (owner) => {
      if (streams.isFullFor(owner)) return tooMany;
      const close = streams.take(owner, 1);
      let taken = 0;
      let hasBegun = false;
      const permit = { isTaken: () => taken > 0 } as ReadPermit;
      const withPermit = async <T>(work: (permit: ReadPermit) => Promise<T>): Promise<T> => {
        const release = await takePermit(owner, hasBegun);
        taken += 1;
        try {
          return await work(permit);
        } finally {
          taken -= 1;
          release();
          startWaiting();
        }
      };
      return {
        withPermit,
        piece: (make) =>
          withPermit(async () => {
            const { text, isLast } = await make(permit);
            hasBegun = true;
            const kept = isLast ? 0 : limits.pieceBytesMax;
            const giveBack = chars.take(owner, Math.max(text.length, kept));
            const sent = (): void => {
              giveBack();
              startWaiting();
            };
            return { text, sent };
          }),
        close,
      };
    },
  };
}

const tooMany = fault("overloaded", "too many long answers are being sent, come back later");

function countsByOwner(allMax: number, ownerMax: number) {
  const counts = new Map<string, number>();
  let all = 0;
  const add = (owner: string, n: number): void => {
    all += n;
    const count = (counts.get(owner) ?? 0) + n;
    if (count > 0) counts.set(owner, count);
    else counts.delete(owner);
  };
  return {
    isFullFor: (owner: string): boolean => all >= allMax || (counts.get(owner) ?? 0) >= ownerMax,
    /** Returns a function that gives the count back; calling it again does nothing. */
    take: (owner: string, n: number): GiveBack => {
      add(owner, n);
      let isHeld = true;
      return () => {
        if (isHeld) add(owner, -n);
        isHeld = false;
      };
    },
  };
}
