import { cutOff } from "@posthaste/domain";
import { countsMsMax, type CountsQuery, type overview } from "@posthaste/contract";
import { type Clock, type DeadLetters, type Records } from "@posthaste/ports";
import { type ReadsIn } from "../reads.ts";
import { type Handlers } from "./handler.ts";

export type OverviewParts = {
  readonly reads: ReadsIn;
  readonly records: Records;
  readonly deadLetters: Pick<DeadLetters, "count">;
  readonly clock: Clock;
};

const hourMs = 3_600_000;
const lettersMax = 10_000;

export const overviewHandlers = ({
  reads,
  records,
  deadLetters,
  clock,
}: OverviewParts): Handlers<keyof typeof overview> => ({
  listCounts: async ({ tenant, query }) => {
    const { from, to } = rangeOf(query, clock.now());
    return {
      status: 200,
      read: async (permit) => {
        const minutes = await reads(permit).counts(tenant.id, from, to);
        const shown = minutes.map(({ minute, counts }) => ({
          time: minute,
          counts: { ...counts },
        }));
        return { json: { minutes: shown } };
      },
    };
  },
  readOverview: async ({ tenant: { id } }) => ({
    status: 200,
    read: async () => {
      const [backlog, dueSince, letters] = await Promise.all([
        records.backlog(id),
        records.dueSince(id),
        deadLetters.count(id, lettersMax),
      ]);
      const sized = { backlog, deadLetters: letters };
      return {
        json: { time: clock.now(), ...sized, ...(dueSince !== undefined && { dueSince }) },
      };
    },
  }),
});

/** Returns the range to count. With one end given, the range is as long as allowed; with none, it is the last hour. */
function rangeOf(
  { from, to }: CountsQuery,
  now: number,
): { readonly from: number; readonly to: number } {
  if (from !== undefined)
    return { from, to: to ?? Math.max(from, Math.min(now, from + countsMsMax)) };
  return {
    from: Math.max(0, cutOff(to === undefined ? hourMs : countsMsMax, to ?? now)),
    to: to ?? now,
  };
}
