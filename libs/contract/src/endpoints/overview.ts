/** Numbers of a tenant's messages: counts by minute, which are kept with the log, and the present state. */
import { type Fault, isFault, type LogState, logStates, minuteMs } from "@posthaste/domain";
import * as z from "zod";
import { integer, parameterFault, readQuery } from "../queries/query-values.ts";
import { dateMax } from "../queries/fields.ts";
import { millisecondsShape } from "../representations/schemas.ts";
import { endpoint } from "./endpoint.ts";

const count = z.int().min(0);

const minuteSchema = z
  .object({
    time: millisecondsShape.describe("The first millisecond of the minute"),
    counts: z.object(
      Object.fromEntries(logStates.map((state) => [state, count.optional()])) as {
        readonly [State in LogState]: z.ZodOptional<typeof count>;
      },
    ),
  })
  .meta({ id: "MinuteCounts" });

const overviewSchema = z
  .object({
    time: millisecondsShape.describe("The time of the server"),
    backlog: count.describe("Messages that have not ended; may lag by seconds"),
    dueSince: millisecondsShape
      .optional()
      .describe(
        "About since when the oldest of the first thousand due messages that are not under way has been waiting; absent if there is none",
      ),
    deadLetters: count.describe("Dead letters of messages; counted to 10,000"),
  })
  .meta({ id: "Overview" });

export const countsMsMax = 24 * 60 * minuteMs;

export type CountsQuery = { readonly from?: number; readonly to?: number };

const countNames: ReadonlySet<string> = new Set(["fromDate", "toDate"]);

export const overview = {
  listCounts: endpoint({
    method: "get",
    path: "/v2/counts",
    kind: "list",
    summary:
      "List the number of events of each state in each minute: of the last hour, or a day at most",
    query: { names: countNames, parse: parseCountsQuery },
    answers: {
      200: {
        says: "The minutes with events, in order",
        schema: z.object({ minutes: z.array(minuteSchema) }),
        isLarge: true,
      },
    },
    faults: ["malformed"],
  }),
  readOverview: endpoint({
    method: "get",
    path: "/v2/overview",
    kind: "list",
    summary: "Read the present totals: the backlog, the oldest due message, the dead letters",
    answers: { 200: { says: "The present totals", schema: overviewSchema, isLarge: true } },
    faults: [],
  }),
};

/** `search` is the text after the `?`. */
export function parseCountsQuery(search: string): CountsQuery | Fault {
  const values = readQuery(search, countNames);
  if (isFault(values)) return values;
  const from = integer(values, "fromDate", { min: 0, max: dateMax });
  if (isFault(from)) return from;
  const to = integer(values, "toDate", { min: 0, max: dateMax });
  if (isFault(to)) return to;
  if (from !== undefined && to !== undefined) {
    if (from > to) return parameterFault("fromDate", "must not be after toDate");
    if (to - from > countsMsMax)
      return parameterFault("fromDate", "must be within a day of toDate");
  }
  return { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
}
