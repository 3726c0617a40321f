/** Yielded by a reader of a long body when it has done the work of a turn and has not ended. */
export const pause = Symbol("pause");
export type Pause = typeof pause;
/** A value that is read or made in turns, since it may be long. */
export type InTurns<T> = Generator<Pause, T, undefined>;

/** Reading this many bytes takes a millisecond or two. */
export const bytesPerTurn = 64 * 1024;

/** Reads without pauses: for a body that is not long, or where no other work waits. */
export function atOnce<T>(reading: InTurns<T>): T {
  for (;;) {
    const { done, value } = reading.next();
    if (done === true) return value;
  }
}
