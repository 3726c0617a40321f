/** Schedules of every minute that exist through a whole run, whatever is broken meanwhile. */
import { type Journal, now, type ScheduleLife } from "../history/journal.ts";
import { isBehind, minuteMs } from "../history/schedules.ts";
import { type Target } from "./publish.ts";
import { until } from "./until.ts";

const count = 30;
/** The longest time that the removal of all schedules takes. */
const removalMsMax = 15_000;

export class Schedules {
  readonly #target: Target;
  readonly #journal: Journal;

  private constructor(target: Target, journal: Journal) {
    this.#target = target;
    this.#journal = journal;
  }

  static async make(target: Target, journal: Journal): Promise<Schedules> {
    const schedules = new Schedules(target, journal);
    for (let n = 0; n < count; n++) {
      const askedAt = now();
      const to = `/v2/schedules/${target.destination}/slot`;
      const headers = { "service-cron": "* * * * *", "service-retries": "20" };
      const { scheduleId: id } = await schedules.#ask("POST", to, headers);
      journal.schedules.push({ id, askedAt, madeAt: now() });
    }
    return schedules;
  }

  /** Removes the schedules once each slot that has come due has its message; no further message comes then. */
  async removeWhenFired(): Promise<void> {
    const { firings, schedules } = this.#journal;
    const left = (): readonly ScheduleLife[] =>
      schedules.filter((each) => isBehind(each, firings, now()));
    await until(
      "each slot that has come due has fired, and no other comes due while they are removed",
      () => left().length === 0 && now() % minuteMs < minuteMs - removalMsMax,
    );
    for (const schedule of schedules) {
      schedule.endsFrom = now();
      await this.#ask("DELETE", `/v2/schedules/${schedule.id}`);
      schedule.endedAt = now();
    }
  }

  async #ask(
    method: string,
    path: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<{ readonly scheduleId: string }> {
    const { port, token } = this.#target;
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, connection: "close", ...headers },
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return JSON.parse(text || "{}") as { readonly scheduleId: string };
  }
}
