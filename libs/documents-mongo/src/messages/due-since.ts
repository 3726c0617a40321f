/** Resolves to the time since when a tenant's oldest due message has waited. Reads at most `limits.dueSinceRowsMax` rows of the index. */
import { dueSince, limits } from "@posthaste/domain";
import { type Records } from "@posthaste/ports";
import { inOneReply, type Store } from "./store.ts";
import { type StoredRecord } from "./stored.ts";

export function createDueSince({ again, messages }: Store): Records["dueSince"] {
  return async (tenant) => {
    const rows = await again(() =>
      messages
        .find({ tenant, state: "due" }, inOneReply)
        .project<Pick<StoredRecord, "grantUntil" | "hints" | "wakeAt">>({
          grantUntil: 1,
          hints: 1,
          wakeAt: 1,
          _id: 0,
        })
        .sort({ origin: 1, _id: 1 })
        .limit(limits.dueSinceRowsMax)
        .toArray(),
    );
    const times = rows.flatMap(({ grantUntil, hints = 0, wakeAt }) =>
      grantUntil !== undefined || wakeAt === undefined ? [] : dueSince(hints, wakeAt),
    );
    return times.length > 0 ? Math.min(...times) : undefined;
  };
}
