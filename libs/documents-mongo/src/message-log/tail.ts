/**
 * Watches for new rows in a tenant's log. No process receives all events: plain deliveries publish no fact (ADR 55).
 * Reads the tail twice a second, from the index of tenant and place alone, and only while a caller watches.
 */
import { type TenantId, tooFarAheadAfter, cutOff } from "@posthaste/domain";
import { type Collection, type Document, type Filter } from "mongodb";
import { type Connection } from "../connection.ts";
import { digitsOf } from "../query/placed.ts";

/** `place` is the field that holds the place of a row. */
type Source = { readonly rows: Collection<Document>; readonly place: string };

const lookEveryMs = 500;
/** Rows are written late, with the time of their event. */
const lateMsMax = 10_000;
const rowsMax = 200;

export function watchTail(
  { again, clock, log }: Pick<Connection, "again" | "clock" | "log">,
  sources: readonly Source[],
  tenant: TenantId,
  grown: () => void,
): () => void {
  let known: ReadonlySet<string> = new Set();
  let isOver = false;
  let callOff = clock.after(0, () => void look());

  async function look(): Promise<void> {
    try {
      const places = (
        await Promise.all(sources.map((each) => again(() => lastPlaces(each))))
      ).flat();
      if (isOver) return;
      if (places.some((place) => !known.has(place))) grown();
      known = new Set(places);
    } catch (error) {
      log.warn("log.unwatched", { tenant, error });
    }
    if (!isOver) callOff = clock.after(lookEveryMs, () => void look());
  }

  async function lastPlaces({ rows, place }: Source): Promise<readonly string[]> {
    const now = clock.now();
    // An event written by a clock that was ahead is not the end of the log.
    const range = {
      $gte: digitsOf(cutOff(lateMsMax, now)),
      $lt: digitsOf(tooFarAheadAfter(0, now)),
    };
    const found = await rows
      .find({ tenant, [place]: { ...range, $exists: true } } as Filter<Document>)
      .project({ [place]: 1, _id: 0 })
      .sort({ [place]: -1 })
      .limit(rowsMax)
      .toArray();
    return found.map((each) => JSON.stringify(each));
  }

  return () => {
    isOver = true;
    callOff();
  };
}
