/** The timetable of a scheduler's rounds: when each source of alarms is checked next. */
import { type AlarmSource } from "@posthaste/domain";

/** Times are by `passedMs`, so that setting the clock moves none. */
export class Timetable {
  readonly #times = new Map<AlarmSource, number>();

  /** Checks `sources` at `time`, unless they have an earlier time. */
  bringForward(sources: readonly AlarmSource[], time: number): void {
    for (const source of sources) this.#times.set(source, Math.min(time, this.#timeOf(source)));
  }

  /** Returns the earliest time of `sources`, or Infinity if none has one. */
  next(sources: readonly AlarmSource[]): number {
    return Math.min(...sources.map((source) => this.#timeOf(source)));
  }

  /**
   * Returns the ones of `sources` whose time has come by `time`, and removes their times: a time that is brought
   * forward while they are being checked is kept beside the result of the check.
   */
  take(sources: readonly AlarmSource[], time: number): readonly AlarmSource[] {
    const due = sources.filter((source) => this.#timeOf(source) <= time);
    for (const source of due) this.#times.delete(source);
    return due;
  }

  #timeOf(source: AlarmSource): number {
    return this.#times.get(source) ?? Infinity;
  }
}
