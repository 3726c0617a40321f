/** What a reader of a long body yields where it has done a turn's work and has not ended. */
export const pause = Symbol("pause");
export type Pause = typeof pause;
/** Read or made in turns, since it may be long. */
export type InTurns<T> = Generator<Pause, T, undefined>;

/** A millisecond or two of looking at each byte. */
export const bytesPerTurn = 64 * 1024;

/** Of a body that is not long, or where there is no other work to wait for. */
export function atOnce<T>(reading: InTurns<T>): T {
  for (;;) {
    const { done, value } = reading.next();
    if (done === true) return value;
  }
}
