/** Pages of lists: how many items, in which order, from which position, and how much of each body. */
import { type Fault, isFault, type ListOrder, listOrders } from "@posthaste/domain";
import { type QueryValues, integer, parameterFault, single } from "./query-values.ts";

export type PagePlace = {
  /** The cursor as the caller sent it back: its signer must verify it and turn it into `PageRequest.after`. */
  readonly cursor?: string;
  /** Given instead of a cursor: the page begins at this time, in Unix milliseconds. */
  readonly startAt?: number;
};

export type PageQuery = PagePlace & {
  readonly limit: number;
  readonly order: ListOrder;
  /** Bodies are cut at this length; 0 leaves them out. All bodies of a page together have a bound, whatever the caller asks for. */
  readonly bodyBytesMax: number;
};

export const pageNames = ["cursor", "count", "order", "trimBody"] as const;

export type PageDefaults = {
  readonly countDefault: number;
  readonly countMax: number;
  readonly order: ListOrder;
};

/** The bound of all bodies of one page, requests and responses. */
const pageBodyBytesMax = 16 * 1024 * 1024;
const bodiesPerItem = 2;
const cursorLengthMax = 1_024;

export function parsePage(values: QueryValues, defaults: PageDefaults): PageQuery | Fault {
  const limit =
    integer(values, "count", { min: 1, max: defaults.countMax }) ?? defaults.countDefault;
  if (isFault(limit)) return limit;
  const order = parseOrder(values) ?? defaults.order;
  if (isFault(order)) return order;
  const place = parsePlace(values);
  if (isFault(place)) return place;
  const trimBody = integer(values, "trimBody", { min: -1, max: Number.MAX_SAFE_INTEGER });
  if (isFault(trimBody)) return trimBody;
  const fair = Math.floor(pageBodyBytesMax / (limit * bodiesPerItem));
  return {
    limit,
    order,
    ...place,
    bodyBytesMax: Math.max(Math.min(trimBody ?? fair, fair), 0),
  };
}

/** Reads the place of a page. Some clients send an empty cursor for the first page, and some a time of their own, such as `Date.now()`. */
export function parsePlace(values: QueryValues): PagePlace | Fault {
  const cursor = single(values, "cursor");
  if (isFault(cursor)) return cursor;
  if ((cursor?.length ?? 0) > cursorLengthMax)
    return parameterFault("cursor", "is not a cursor of this service");
  if (cursor === undefined || cursor === "") return {};
  return /^\d{1,15}$/.test(cursor) ? { startAt: Number(cursor) } : { cursor };
}

function parseOrder(values: QueryValues): ListOrder | undefined | Fault {
  const order = single(values, "order");
  if (order === undefined || isFault(order)) return order;
  return (
    listOrders.find((known) => known === order) ??
    parameterFault("order", `must be ${listOrders.join(" or ")}`)
  );
}
