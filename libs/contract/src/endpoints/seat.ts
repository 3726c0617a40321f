/** Proves that a read has a seat in the room for long answers. Only that room gives out seats (libs/http/src/answers/answer-room.ts). */
declare const brand: unique symbol;

export type Seat = {
  readonly [brand]: true;
  /** False between two pieces, and once the answer has ended. */
  readonly isTaken: () => boolean;
};
