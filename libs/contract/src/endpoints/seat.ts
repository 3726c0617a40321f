/** Proof that what is read now has a seat in the room for long answers (libs/http/src/answers/answer-room.ts), which alone hands it out. */
declare const brand: unique symbol;

export type Seat = {
  readonly [brand]: true;
  /** Not between two pieces, nor when the answer has ended. */
  readonly isTaken: () => boolean;
};
