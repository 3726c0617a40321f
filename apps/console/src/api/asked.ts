/** Asks the API for the data of a page, and sends its changes. */
import {
  keepPreviousData,
  notifyManager,
  useMutation,
  useQuery,
  useQueryClient,
  type UseQueryResult,
} from "@tanstack/react-query";
import { useCallback, useSyncExternalStore } from "react";
import { go, here } from "../address.ts";
import {
  type AnswerOf,
  type Asked,
  call,
  type OperationId,
  Refused,
  send,
  type Sent,
} from "./call.ts";
import { useSession } from "./session.ts";

/**
 * When an answer is read again. `log`: when the message log has grown, or has grown by events of one message; `often`: every few
 * seconds, for data that the log does not show; `slowly`: twice a minute, for large answers; `once`: never.
 */
type Fresh = "log" | "often" | "slowly" | "once";

export type QueryMeta = {
  readonly fresh: Fresh;
  readonly messageId: string | undefined;
};

type Options = {
  readonly fresh?: Fresh;
  /** For `log`: the message that the answer is about. */
  readonly messageId?: string;
  readonly isAsked?: boolean;
};

const oftenMs = 3_000;
const slowlyMs = 30_000;
const retriesMax = 2;
/** Reports whether the server or the connection to it failed, rather than the request. */
export const isPassing = ({ status }: Refused): boolean =>
  status === 0 || status === 429 || status >= 500;

export function useAsked<Id extends OperationId>(
  asked: Asked<Id>,
  options: Options = {},
): UseQueryResult<AnswerOf<Id>, Refused> {
  const { session, isExpired } = useSession();
  return useQuery<AnswerOf<Id>, Refused>({
    ...shared(asked, options, isExpired),
    queryFn: ({ signal }) => call(session, asked, signal),
  });
}

const shared = (asked: Asked, options: Options, isExpired: boolean) => ({
  ...settingsOf(options, isExpired),
  queryKey: [asked.id, asked.params, asked.query],
});

function settingsOf({ fresh = "log", isAsked = true, messageId }: Options, isExpired: boolean) {
  return {
    enabled: isAsked && !isExpired,
    meta: { fresh, messageId } satisfies QueryMeta,
    refetchInterval: ({ state: { error } }: { readonly state: { readonly error: unknown } }) => {
      if (fresh === "often" || (error instanceof Refused && isPassing(error))) return oftenMs;
      return fresh === "slowly" ? slowlyMs : (false as const);
    },
    placeholderData: keepPreviousData,
    retry: (failures: number, error: Refused) => isPassing(error) && failures < retriesMax,
  };
}

/** Returns why a shown answer cannot be read again at the moment. */
export function useAway(): string | undefined {
  const cache = useQueryClient().getQueryCache();
  return useSyncExternalStore(
    useCallback((onChange) => cache.subscribe(notifyManager.batchCalls(onChange)), [cache]),
    () => {
      for (const query of cache.getAll()) {
        const reason: unknown = query.state.fetchFailureReason;
        if (query.isActive() && reason instanceof Refused && isPassing(reason))
          return reason.message;
      }
      return undefined;
    },
  );
}

type After<T> = {
  /** Returns the address to go to, unless another page was visited meanwhile. */
  readonly leaveTo?: ((answer: T) => string | undefined) | undefined;
  readonly onDone?: (answer: T) => void;
  readonly onRefused?: (reason: Refused) => void;
};

/** Makes a change. Afterwards reads everything shown again, unless the change leaves the page. */
export function useChange<Id extends OperationId>(after: After<AnswerOf<Id>> = {}) {
  const { session } = useSession();
  return useMutation<AnswerOf<Id>, Refused, Asked<Id>, string>({
    mutationFn: (asked) => call(session, asked),
    ...useAfter(after),
  });
}

/** Sends a message. `read` extracts the result from the answer. */
export function useSend<T>(read: (answer: unknown) => T, after: After<T> = {}) {
  const { session } = useSession();
  return useMutation<T, Refused, Sent, string>({
    mutationFn: async (sent) => read(await send(session, sent)),
    ...useAfter(after),
  });
}

/**
 * Returns the work after a change. It also runs if its component is removed by then: the live stream may report that a dead
 * letter was retried, and its button disappear, before the retry is answered.
 */
function useAfter<T>({ leaveTo, onDone, onRefused }: After<T>) {
  const queries = useQueryClient();
  return {
    onMutate: here,
    onSuccess: (answer: T, _: unknown, madeAt: string) => {
      const to = leaveTo?.(answer);
      if (to !== undefined && here() === madeAt) go(to);
      onDone?.(answer);
      void queries.invalidateQueries({ refetchType: leaveTo ? "none" : "active" });
    },
    onError: (reason: Refused) => onRefused?.(reason),
  };
}

/**
 * Asks by several calls. `key` holds everything that the answer depends on. Until the first answer is whole, shows
 * the values that `tell` was given.
 */
export function useWork<T>(
  key: readonly unknown[],
  work: (session: string, signal: AbortSignal, tell: (soFar: T) => void) => Promise<T>,
  { fresh = "log", isAsked = true }: Pick<Options, "fresh" | "isAsked"> = {},
): UseQueryResult<T, Refused> {
  const { session, isExpired } = useSession();
  const queries = useQueryClient();
  return useQuery<T, Refused>({
    ...settingsOf({ fresh, isAsked }, isExpired),
    queryKey: key,
    queryFn: ({ signal }) => {
      const isFirst = queries.getQueryData(key) === undefined;
      return work(session, signal, (soFar) => {
        if (isFirst && !signal.aborted) queries.setQueryData(key, soFar);
      });
    },
  });
}
