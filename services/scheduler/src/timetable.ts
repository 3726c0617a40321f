/** The timetable of a scheduler's rounds: when each source of alarms is looked at next. */
import { type AlarmSource } from "@posthaste/domain";

/** Times are by `passedMs`, so that setting the clock moves none. */
export class Timetable {
  readonly #times = new Map<AlarmSource, number>();

  /** Has `sources` looked at at `time`. An earlier time stays. */
  bringForward(sources: readonly AlarmSource[], time: number): void {
    for (const source of sources) this.#times.set(source, Math.min(time, this.#timeOf(source)));
  }

  /** Returns the earliest time of `sources`; Infinity: none has one. */
  next(sources: readonly AlarmSource[]): number {
    return Math.min(...sources.map((source) => this.#timeOf(source)));
  }

  /**
   * Returns those of `sources` whose time has come by `time`, and takes their times away: what is brought forward while they are
   * being looked at stands beside what the look finds.
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
