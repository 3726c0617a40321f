/** Claiming, renewing and pulling: the right to attempt, and how a deliverer finds work (decisions.md 6 and 7). */
import { claim, type InState, isClaimable, limits, type MessageId, type Owner, type TenantId } from "@posthaste/domain";
import { type Hint } from "@posthaste/ports";
import { integer } from "../database/rows.ts";
import { DamagedError } from "./configurations.ts";
import { hintColumns, type Reading, type Standing } from "./read.ts";
import { stateCodes } from "./records.ts";
import { type Rooms } from "./rooms.ts";

export type Claiming = {
  claim(ids: readonly MessageId[], owner: Owner): readonly InState<"claimed">[];
  renew(claims: readonly { readonly id: MessageId; readonly epoch: number }[]): readonly MessageId[];
  pull(tenant: TenantId, limit: number, exceptOrigins: readonly number[]): readonly Hint[];
};

/** How many destinations one pull looks at; the next pull goes on behind them. */
const originsPerPullMax = 1_000;
/** How many rows one pull reads: so many times its limit. */
const rowsPerPullFactor = 16;

export function openClaiming({ db, clock, log, names, tenants }: Rooms, reading: Reading): Claiming {
  const write = db.prepare(`
    UPDATE messages SET state = ${stateCodes.claimed}, until = ?, hints = 0, wake_at = ?, epoch = ?, owner = ?, lease_losses = ?
    WHERE position = ?`);
  const renew = db.prepare(`
    UPDATE messages SET until = ?, wake_at = iif(outbox > 0, min(wake_at, ?), ?)
    WHERE position = ? AND name = ? AND epoch = ? AND state = ${stateCodes.claimed} AND until > ?`);
  const nextOrigin = db.prepare(`
    SELECT origin FROM messages WHERE tenant = ? AND state = ${stateCodes.due} AND origin > ? ORDER BY origin LIMIT 1`);
  const dueTo = db.prepare(`
    SELECT ${hintColumns} FROM messages WHERE tenant = ? AND state = ${stateCodes.due} AND origin = ?
      AND (until IS NULL OR until > ?) ORDER BY position LIMIT ?`);
  const pulledUpTo = new Map<number, number>();

  const findSound = (id: MessageId): Standing | undefined => {
    try {
      return reading.find(id);
    } catch (error) {
      if (!(error instanceof DamagedError)) throw error;
      log.error("store.damaged", { messageId: id, error });
      return undefined;
    }
  };

  /** Every destination with due records, from where the last pull stopped, once around. */
  const originsOf = (tenant: number, except: ReadonlySet<number>): readonly number[] => {
    const start = pulledUpTo.get(tenant) ?? -1;
    const found = new Set<number>();
    let last = start;
    let wrapped = start < 0;
    for (let n = 0; n < originsPerPullMax; n++) {
      const row = nextOrigin.get(tenant, last);
      if (!row) {
        if (wrapped) break;
        wrapped = true;
        last = -1;
        continue;
      }
      last = integer(row["origin"]);
      if (wrapped && start >= 0 && last > start) break;
      if (!except.has(last)) found.add(last);
    }
    if (found.size >= originsPerPullMax) pulledUpTo.set(tenant, last);
    else pulledUpTo.delete(tenant);
    return [...found];
  };

  return {
    claim: (ids, owner) => {
      const now = clock.now();
      return ids.flatMap((id) => {
        const found = findSound(id);
        if (!found || !isClaimable(found.record, now)) return [];
        const claimed = claim(found.record, owner, now);
        const { leaseUntil } = claimed.state;
        write.run(leaseUntil, claimed.wakeAt ?? leaseUntil, claimed.epoch, owner, claimed.leaseLosses, found.position);
        return [claimed];
      });
    },
    renew: (claims) => {
      const now = clock.now();
      const until = now + limits.leaseMs;
      return claims.flatMap(({ id, epoch }) => {
        const address = names.find(id);
        const held = address && renew.run(until, until, until, address.position, address.name, epoch, now).changes === 1;
        return held ? [] : [id];
      });
    },
    pull: (tenantId, limit, exceptOrigins) => {
      const tenant = tenants.find(tenantId);
      if (tenant === undefined) return [];
      const origins = originsOf(tenant, new Set(exceptOrigins));
      const each = Math.min(limit, Math.ceil((rowsPerPullFactor * limit) / Math.max(1, origins.length)));
      const now = clock.now();
      return origins
        .flatMap((origin) => dueTo.all(tenant, origin, now, each))
        .sort((a, b) => integer(a["position"]) - integer(b["position"]))
        .slice(0, limit)
        .map(reading.hint);
    },
  };
}
