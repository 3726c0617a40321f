/** Pulls messages: how a deliverer finds messages whose hints it has dropped (docs/design/delivery#hints-and-slots). */
import { type TenantId } from "@posthaste/domain";
import { type Records } from "@posthaste/ports";
import { type Filter } from "mongodb";
import { grantHolds } from "./claim.ts";
import { inOneReply, type Store } from "./store.ts";
import {
  type HintDocument,
  hintFields,
  hintFrom,
  isKnownFormat,
  type StoredRecord,
} from "./stored.ts";

/**
 * Pulls in the order of the index: origin by origin, the oldest first, from the end of the last pull and once around.
 * So a million messages to one excepted destination cost nothing, and no destination waits for another to run dry.
 */
export function createPull({ again, messages, clock }: Store): Records["pull"] {
  const pulledUpTo = new Map<TenantId, number>();

  const find = (filter: Filter<StoredRecord>, limit: number): Promise<readonly HintDocument[]> =>
    again(() =>
      messages
        .find(filter, { ...inOneReply, projection: hintFields })
        .sort({ origin: 1, _id: 1 })
        .limit(limit)
        .toArray(),
    );

  return async (tenant, limit, exceptOrigins) => {
    const due = { tenant, state: "due", ...isKnownFormat, ...grantHolds(clock.now()) } as const;
    const except = exceptOrigins.length > 0 ? { $nin: [...exceptOrigins] } : {};
    const start = pulledUpTo.get(tenant) ?? beforeAll;
    const after = await find({ ...due, origin: { ...except, $gt: start } }, limit);
    const missing = limit - after.length;
    const around =
      missing > 0 && start > beforeAll
        ? await find({ ...due, origin: { ...except, $gt: beforeAll, $lte: start } }, missing)
        : [];
    const found = [...after, ...around];
    const last = found.at(-1);
    if (last) pulledUpTo.set(tenant, last.origin);
    else pulledUpTo.delete(tenant);
    return found.toSorted((a, b) => (a._id < b._id ? -1 : 1)).map(hintFrom);
  };
}

/** Origins are hashes of 32 bits, not negative. */
const beforeAll = -1;
