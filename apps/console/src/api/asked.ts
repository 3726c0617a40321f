/** What a page shows is asked here, and what it changes. */
import {
  keepPreviousData,
  useMutation,
  useQuery,
  useQueryClient,
  type UseQueryResult,
} from "@tanstack/react-query";
import {
  type Answered,
  type AnswerOf,
  type Asked,
  call,
  callWhole,
  type OperationId,
  type Refused,
} from "./call.ts";
import { useSession } from "./session.ts";

/**
 * When an answer is asked for again: `log`: the message log has grown (of one message: has grown by it); `often`: every few
 * seconds, for what the log does not tell; `once`: never by itself.
 */
type Fresh = "log" | "often" | "once";

/** What a query says of itself to live.ts. */
export type QueryMeta = {
  readonly fresh: Fresh;
  readonly messageId: string | undefined;
};

type Options = {
  readonly fresh?: Fresh;
  /** Of `log`: the message that it is about. */
  readonly messageId?: string;
  readonly isAsked?: boolean;
};

const oftenMs = 3_000;
const retriesMax = 2;
/** The server or the way to it, not what was asked. */
export const isPassing = ({ status }: Refused): boolean =>
  status === 0 || status === 429 || status >= 500;

export function useAsked<Id extends OperationId>(
  asked: Asked<Id>,
  options: Options = {},
): UseQueryResult<AnswerOf<Id>, Refused> {
  const { authorization } = useSession();
  return useQuery<AnswerOf<Id>, Refused>({
    ...shared(asked, options),
    queryFn: ({ signal }) => call(authorization, asked, signal),
  });
}

/** Of lists that tell their next page in a header. */
export function useAskedWhole<Id extends OperationId>(
  asked: Asked<Id>,
  options: Options = {},
): UseQueryResult<Answered<Id>, Refused> {
  const { authorization } = useSession();
  return useQuery<Answered<Id>, Refused>({
    ...shared(asked, options),
    queryFn: ({ signal }) => callWhole(authorization, asked, signal),
  });
}

function shared(asked: Asked, { fresh = "log", isAsked = true, messageId }: Options) {
  return {
    queryKey: [asked.id, asked.params, asked.query],
    enabled: isAsked,
    meta: { fresh, messageId } satisfies QueryMeta,
    refetchInterval: fresh === "often" ? oftenMs : (false as const),
    placeholderData: keepPreviousData,
    retry: (failures: number, error: Refused) => isPassing(error) && failures < retriesMax,
  };
}

/** A change. All that is shown is read again after it, but where it leaves the page. */
export function useChange<Id extends OperationId>(leave?: (answer: AnswerOf<Id>) => void) {
  const { authorization } = useSession();
  const queries = useQueryClient();
  return useMutation<AnswerOf<Id>, Refused, Asked<Id>>({
    mutationFn: (asked) => call(authorization, asked),
    onSuccess: (answer) => {
      leave?.(answer);
      void queries.invalidateQueries({ refetchType: leave ? "none" : "active" });
    },
  });
}
