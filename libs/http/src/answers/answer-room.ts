/**
 * Room for long answers, which are made and sent piece by piece. Owns how many pieces all streams of a process are
 * making, and how much text is made but not sent, so that callers that read slowly, or not at all, cost little.
 *
 * (1) A stream makes a piece in a seat, and seats are given while there is room for unsent text: at most `seatsMax`
 *     pieces beyond `charsMax`, and for one owner at most its share of both.
 * (2) A seat is taken before the first read, and no port is asked for a page without one: `Seat` is made only here.
 * (3) Waiting streams get the next seat that their owner may have, in the order in which they began to wait. Among
 *     those of one owner, streams that have begun go first, since each of them keeps the data that it has read.
 */
import { type Seat } from "@posthaste/contract";
import { fault, type Fault, limits } from "@posthaste/domain";

export type AnswerRoom = {
  /** Returns fault `overloaded` when too many streams are under way, in total or for this owner. */
  open(owner: string): AnswerStream | Fault;
};

export type AnswerStream = {
  /** Runs `work` in a seat, and returns its result. */
  seated<T>(work: (seat: Seat) => Promise<T>): Promise<T>;
  /** Makes a piece in a seat. The piece takes room until `sent` is called; calling it again does nothing. */
  piece(make: (seat: Seat) => Promise<Made>): Promise<Piece>;
  /** May be called again. */
  close(): void;
};

/** A piece. Until the last piece, a stream keeps the data of one read, beside its text. */
type Made = { readonly text: string; readonly isLast: boolean };
type Piece = { readonly text: string; readonly sent: () => void };

export type AnswerRoomBounds = {
  readonly charsMax: number;
  readonly charsPerOwnerMax: number;
  readonly seatsMax: number;
  readonly seatsPerOwnerMax: number;
  readonly streamsMax: number;
  readonly streamsPerOwnerMax: number;
};

const bounds: AnswerRoomBounds = {
  charsMax: 32 * 1024 * 1024,
  charsPerOwnerMax: 8 * 1024 * 1024,
  // A piece may be a letter of 10 MiB, as it is read, as text and as bytes: all fit into a container of 512 MiB.
  seatsMax: 8,
  seatsPerOwnerMax: 3,
  streamsMax: 2_048,
  streamsPerOwnerMax: 256,
};

type GiveBack = () => void;
type Waiting = {
  readonly owner: string;
  readonly hasBegun: boolean;
  readonly sit: (rise: GiveBack) => void;
};

export function createAnswerRoom(changed: Partial<AnswerRoomBounds> = {}): AnswerRoom {
  const { charsMax, charsPerOwnerMax, ...counts } = { ...bounds, ...changed };
  const { seatsMax, seatsPerOwnerMax, streamsMax, streamsPerOwnerMax } = counts;
  const streams = countsByOwner();
  const seats = countsByOwner();
  const chars = countsByOwner();
  // Bounded by the number of streams: each waits once.
  const waiting: Waiting[] = [];

  const mayHaveSeat = (owner: string): boolean =>
    seats.all < seatsMax &&
    seats.of(owner) < seatsPerOwnerMax &&
    chars.all < charsMax &&
    chars.of(owner) < charsPerOwnerMax;

  async function takeSeat(owner: string, hasBegun: boolean): Promise<GiveBack> {
    if (mayHaveSeat(owner)) return seats.take(owner, 1);
    return new Promise((sit) => waiting.push({ owner, hasBegun, sit }));
  }

  function nextSeated(): Waiting | undefined {
    const first = waiting.find(({ owner }) => mayHaveSeat(owner));
    return waiting.find(({ owner, hasBegun }) => owner === first?.owner && hasBegun) ?? first;
  }

  function seatWaiting(): void {
    // Each turn except the last seats one stream.
    for (let next = nextSeated(); next; next = nextSeated()) {
      waiting.splice(waiting.indexOf(next), 1);
      next.sit(seats.take(next.owner, 1));
    }
  }

  return {
    open: (owner) => {
      if (streams.all >= streamsMax || streams.of(owner) >= streamsPerOwnerMax) return tooMany;
      const close = streams.take(owner, 1);
      let taken = 0;
      let hasBegun = false;
      const seat = seatWhile(() => taken > 0);
      const seated = async <T>(work: (seat: Seat) => Promise<T>): Promise<T> => {
        const rise = await takeSeat(owner, hasBegun);
        taken += 1;
        try {
          return await work(seat);
        } finally {
          taken -= 1;
          rise();
          seatWaiting();
        }
      };
      return {
        seated,
        piece: (make) =>
          seated(async () => {
            const { text, isLast } = await make(seat);
            hasBegun = true;
            const kept = isLast ? 0 : limits.pieceBytesMax;
            const giveBack = chars.take(owner, Math.max(text.length, kept));
            const sent = (): void => {
              giveBack();
              seatWaiting();
            };
            return { text, sent };
          }),
        close,
      };
    },
  };
}

const seatWhile = (isTaken: () => boolean): Seat => ({ isTaken }) as Seat;

const tooMany = fault("overloaded", "too many long answers are being sent, come back later");

function countsByOwner() {
  const counts = new Map<string, number>();
  let all = 0;
  const of = (owner: string): number => counts.get(owner) ?? 0;
  const add = (owner: string, n: number): void => {
    all += n;
    const count = of(owner) + n;
    if (count > 0) counts.set(owner, count);
    else counts.delete(owner);
  };
  return {
    get all() {
      return all;
    },
    of,
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
