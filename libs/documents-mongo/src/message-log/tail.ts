/**
 * Watches for new rows in a tenant's log. No process hears of all events: plain deliveries are said on no bus (ADR 55). So
 * the tail is read, from the index of tenant and place alone, twice a second and only while a caller watches.
 */
import { type TenantId, aheadFrom, cutOff } from "@posthaste/domain";
import { type Collection } from "mongodb";
import { type Connection } from "../connection.ts";
import { digitsOf } from "../query/placed.ts";
import { type LogRow } from "./rows.ts";

const lookEveryMs = 500;
/** Rows come late, and stand at the time of their event. */
const lateMsMax = 10_000;
const rowsMax = 200;

export function watchTail(
  { again, clock, log }: Pick<Connection, "again" | "clock" | "log">,
  rows: Collection<LogRow>,
  tenant: TenantId,
  grown: () => void,
): () => void {
  let known: ReadonlySet<string> = new Set();
  let isOver = false;
  let callOff = clock.after(0, () => void look());

  async function look(): Promise<void> {
    try {
      const places = await again(() => lastPlaces());
      if (isOver) return;
      if (places.some((place) => !known.has(place))) grown();
      known = new Set(places);
    } catch (error) {
      log.warn("log.unwatched", { tenant, error });
    }
    if (!isOver) callOff = clock.after(lookEveryMs, () => void look());
  }

  async function lastPlaces(): Promise<readonly string[]> {
    const now = clock.now();
    // An event written by a clock that was ahead is not the end of the log.
    const place = { $gte: digitsOf(cutOff(lateMsMax, now)), $lt: digitsOf(aheadFrom(0, now)) };
    const found = await rows
      .find({ tenant, place })
      .project<Pick<LogRow, "place">>({ place: 1, _id: 0 })
      .sort({ place: -1 })
      .limit(rowsMax)
      .toArray();
    return found.map(({ place }) => place);
  }

  return () => {
    isOver = true;
    callOff();
  };
}
