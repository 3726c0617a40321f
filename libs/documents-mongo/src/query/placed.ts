/**
 * The rows of an archive: kept for days, listed by tenant in the order of time, page by page. `place` is the time in
 * 16 digits and a name that tells rows of one millisecond apart, so one string is order, range and cursor.
 */
import { type MessageFilter, type PageRequest, type TenantId } from "@posthaste/domain";

export type Placed<Item> = {
  readonly _id: string;
  readonly tenant: TenantId;
  readonly place: string;
  readonly item: Item;
};

export const placeOf = (at: number, name: string): string => `${digitsOf(at)}:${name}`;

/** Returns a string that sorts before all places of that millisecond. */
export const digitsOf = (at: number): string =>
  String(Math.min(Math.max(Math.floor(at), 0), Number.MAX_SAFE_INTEGER)).padStart(16, "0");

type PlaceRange = {
  readonly $gte?: string;
  readonly $lte?: string;
  readonly $gt?: string;
  readonly $lt?: string;
};

export function placesIn(
  { from, to }: Pick<MessageFilter, "from" | "to">,
  { after, order }: Pick<PageRequest, "after" | "order">,
): PlaceRange {
  return {
    ...(from !== undefined && { $gte: digitsOf(from) }),
    // `;` is the character after `:`.
    ...(to !== undefined && { $lte: `${digitsOf(to)};` }),
    ...(after !== undefined && { [order === "earliestFirst" ? "$gt" : "$lt"]: after }),
  };
}
