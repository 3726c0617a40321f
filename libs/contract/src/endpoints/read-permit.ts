/** Permits a read that may be long. Only the limiter of long answers gives permits (libs/http/src/answers/answer-limiter.ts). */
declare const brand: unique symbol;

export type ReadPermit = {
  readonly [brand]: true;
  /** False between two pieces, and once the answer has ended. */
  readonly isTaken: () => boolean;
};
