import { type DeadLetter } from "@posthaste/client/api";
import { call, Refused } from "../api/call.ts";
import { useSession } from "../api/session.ts";
import { Bulk, type Verb } from "../parts/bulk.tsx";
import { perCallMax, walk } from "../rules/bulk.ts";
import { groupsOf, isAt, lettersIn } from "../rules/letters.ts";

/** A hundred thousand letters. The rest is left for the next time. */
const pagesMax = 1_000;

type Props = {
  readonly filters: Readonly<Record<string, string>>;
  readonly host: string | undefined;
  readonly isEmpty: boolean;
};

export const BulkOfLetters = ({ filters, host, isEmpty }: Props) => (
  <Bulk<DeadLetter>
    verbs={useSession().mayWrite ? [retry, remove] : [retry]}
    thing="dead letter"
    isEmpty={isEmpty}
    idOf={({ dlqId }) => dlqId}
    groupsOf={groupsOf}
    find={(session, told, signal) =>
      walk(
        async (cursor) => {
          const query = { ...filters, count: perCallMax, trimBody: 0, order: "latestFirst" };
          const paged = { ...query, ...(cursor !== undefined && { cursor }) };
          const page = await call(session, { id: "listDeadLetters", query: paged }, signal);
          return { items: lettersIn(page) ?? [], cursor: page.cursor };
        },
        ({ url }) => isAt(host, url),
        { pages: pagesMax, found: Infinity },
        { told },
      )
    }
  />
);

const retry: Verb = {
  does: "Retry",
  past: "retried",
  perCallMax,
  take: async (session, ids, signal) => {
    const body = { dlqIds: [...ids] };
    const answer = await call(session, { id: "retryDeadLetters", body }, signal);
    return "responses" in answer ? answer.responses.length : untold();
  },
};

const remove: Verb = {
  does: "Remove",
  past: "removed",
  isFinal: true,
  perCallMax,
  take: async (session, ids, signal) => {
    const body = { dlqIds: [...ids] };
    const answer = await call(session, { id: "removeDeadLetters", body }, signal);
    return "deleted" in answer ? answer.deleted : untold();
  },
};

function untold(): never {
  throw new Refused(0, "The server did not answer with a count.");
}
