/** `/v2/dlq`: retries and removes dead letters, by ids or by filters. Each call takes few enough to stay short. */
import {
  type deadLetters,
  type DeadLetterSelection,
  parseDeadLetterSelection,
  parseOverrides,
} from "@posthaste/contract";
import {
  type DlqId,
  dlqId,
  type Fault,
  faultOfFlow,
  isFault,
  type MessageId,
  refusalOfCallback,
  type TokenScope,
} from "@posthaste/domain";
import {
  type Change,
  retryLetters,
  type RetryLettersPorts,
  unknownLetter,
} from "@posthaste/engine";
import { type Tenant } from "@posthaste/ports";
import { type ContextOf } from "../parse-context.ts";
import { type Paging } from "../paging.ts";
import { type ReadsIn } from "../reads.ts";
import { type WithReadPermit, type Handlers } from "./handler.ts";

export type BulkLetterParts = RetryLettersPorts & {
  readonly paging: Paging;
  readonly reads: ReadsIn;
  readonly contextOf: ContextOf;
};

type Caller = {
  readonly tenant: Tenant;
  readonly scope: TokenScope;
  readonly rawHeaders: readonly string[];
};

type BulkLetterHandlers = Pick<
  Handlers<keyof typeof deadLetters>,
  "removeDeadLetters" | "retryDeadLetter" | "retryDeadLetters"
>;

export function bulkLetterHandlers(parts: BulkLetterParts): BulkLetterHandlers {
  const { deadLetters: letters, paging } = parts;

  /** Returns the ids that one call takes, and the cursor at which the next continues. */
  async function select(
    {
      tenant: { id: tenant },
      withPermit,
    }: { readonly tenant: Tenant; readonly withPermit: WithReadPermit },
    { filter, page }: DeadLetterSelection,
  ) {
    const scope = { tenant, list: "dlq", filter };
    const opened = paging.open(scope, { ...page, bodyBytesMax: 0 });
    if (isFault(opened)) return opened;
    const selected = await withPermit((permit) =>
      parts.reads(permit).letters(tenant, opened.filter, opened.page),
    );
    if (isFault(selected)) return selected;
    const { items, next } = selected;
    return { ids: items.map(({ id }) => id), cursor: paging.seal(scope, opened, next) };
  }

  async function retry(
    { tenant, scope, rawHeaders }: Caller,
    ids: readonly DlqId[],
    { needed, body }: { readonly needed: readonly DlqId[]; readonly body?: Uint8Array },
  ): Promise<readonly MessageId[] | Fault> {
    const change = changeOf(parts, { tenant, scope, rawHeaders });
    if (isFault(change)) return change;
    const overrides = { ...change.overrides, ...(body && { body }) };
    return retryLetters(parts, tenant, ids, { ...change, overrides }, needed);
  }

  return {
    removeDeadLetters: async ({ tenant, query, body, withPermit }) => {
      const selection = parseDeadLetterSelection(query, body);
      if (isFault(selection)) return selection;
      if (selection === "none") return { status: 200, json: { deleted: 0 } };
      const selected = await select({ tenant, withPermit }, selection);
      if (isFault(selected)) return selected;
      const { ids, cursor } = selected;
      if (selection.dryRun) return { status: 200, json: matched(ids, cursor) };
      const deleted = ids.length > 0 ? await letters.remove(tenant.id, ids) : 0;
      return { status: 200, json: { deleted, ...(cursor !== undefined && { cursor }) } };
    },
    retryDeadLetter: async ({ param, query: { replaceBody }, body, ...caller }) => {
      const id = dlqId(param("dlqId"));
      const made = await retry(caller, [id], {
        needed: [id],
        ...(replaceBody && { body }),
      });
      if (isFault(made)) return made;
      const [message] = made;
      return message === undefined
        ? unknownLetter(id)
        : { status: 201, json: { messageId: message } };
    },
    retryDeadLetters: async ({ query, body, withPermit, ...caller }) => {
      const selection = parseDeadLetterSelection(query, body);
      if (isFault(selection)) return selection;
      if (selection === "none") return { status: 201, json: { cursor: "", responses: [] } };
      const selected = await select({ tenant: caller.tenant, withPermit }, selection);
      if (isFault(selected)) return selected;
      if (selection.dryRun) return { status: 200, json: matched(selected.ids, selected.cursor) };
      const named = idsOf(selection);
      const meant = new Set(selected.ids);
      const taken = named ? named.filter((id) => meant.has(id)) : selected.ids;
      const made = await retry(caller, taken, { needed: named ?? [] });
      if (isFault(made)) return made;
      const responses = made.map((message) => ({ messageId: message }));
      return { status: 201, json: { cursor: selected.cursor ?? "", responses } };
    },
  };
}

/**
 * Returns the ids that must all exist: if a call names ids alone, a missing one refuses the call. With filters a call
 * takes the matches. After a cursor, the letters that an earlier call took are removed.
 */
function idsOf({ filter, page }: DeadLetterSelection): readonly DlqId[] | undefined {
  const { ids, ...filters } = filter;
  return Object.keys(filters).length === 0 && page.cursor === undefined ? ids : undefined;
}

const matched = (ids: readonly DlqId[], cursor: string | undefined) => ({
  dryRun: true as const,
  matched: ids.length,
  ...(cursor !== undefined && { cursor }),
});

/** Returns the changes that the request's headers make, within the tenant's plan. */
function changeOf(
  { contextOf }: BulkLetterParts,
  { tenant, scope, rawHeaders }: Caller,
): Change | Fault {
  const context = contextOf(tenant, "");
  const overrides = parseOverrides({ ...context, rawHeaders });
  if (isFault(overrides)) return overrides;
  const { flow } = overrides;
  const { retryDelay, retriesMax } = overrides.policy;
  const changesRetries = retryDelay !== undefined || retriesMax !== undefined;
  return {
    overrides,
    refuse: ({ policy }) => {
      const refused =
        faultOfFlow(policy.flow, flow) ?? refusalOfCallback(policy, overrides.policy, scope);
      if (refused) return refused;
      const expression = retryDelay ?? policy.retryDelay;
      if (!changesRetries || expression === undefined) return undefined;
      return context.checkRetryDelay(expression, retriesMax ?? policy.retriesMax, "Retry-Delay");
    },
  };
}
