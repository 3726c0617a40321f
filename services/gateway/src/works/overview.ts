/** `/v2/counts` and `/v2/overview`. */
import { countsMsMax, type CountsQuery, type overview } from "@posthaste/contract";
import { type Clock, type DeadLetters, type MessageLog, type Records } from "@posthaste/ports";
import { type Works } from "./work.ts";

export type OverviewParts = {
  readonly messageLog: MessageLog;
  readonly records: Records;
  readonly deadLetters: DeadLetters;
  readonly clock: Clock;
};

const hourMs = 3_600_000;
const lettersMax = 10_000;

export const overviewWorks = ({
  messageLog,
  records,
  deadLetters,
  clock,
}: OverviewParts): Works<keyof typeof overview> => ({
  listCounts: async ({ tenant, query }) => {
    const { from, to } = rangeOf(query, clock.now());
    const minutes = await messageLog.counts(tenant.id, from, to);
    return {
      status: 200,
      json: {
        minutes: minutes.map(({ minute, counts }) => ({ time: minute, counts: { ...counts } })),
      },
    };
  },
  readOverview: async ({ tenant: { id } }) => {
    const [backlog, dueSince, letters] = await Promise.all([
      records.backlog(id),
      records.dueSince(id),
      deadLetters.count(id, lettersMax),
    ]);
    return {
      status: 200,
      json: {
        time: clock.now(),
        backlog,
        ...(dueSince !== undefined && { dueSince }),
        deadLetters: letters,
      },
    };
  },
});

/** Where one end is given, as far from it as may be; where none is, the last hour. */
function rangeOf(
  { from, to }: CountsQuery,
  now: number,
): { readonly from: number; readonly to: number } {
  if (from !== undefined)
    return { from, to: to ?? Math.max(from, Math.min(now, from + countsMsMax)) };
  return {
    from: Math.max(0, (to ?? now) - (to === undefined ? hourMs : countsMsMax)),
    to: to ?? now,
  };
}
