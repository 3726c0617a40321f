/** Pull: how a deliverer finds messages whose hints it has dropped (docs/design/delivery#hints-and-slots). */
import { type TenantId } from "@posthaste/domain";
import { type Hint } from "@posthaste/ports";
import { integer } from "../database/rows.ts";
import { hintColumns, type Reading } from "./read.ts";
import { isKnownFormat, stateCodes } from "./records.ts";
import { type Store } from "./store.ts";

export type Pull = (
  tenant: TenantId,
  limit: number,
  exceptOrigins: readonly number[],
) => readonly Hint[];

/** Destinations that one pull looks at; the next pull continues after them. */
const originsPerPullMax = 1_000;
/** The rows that one pull reads, as a multiple of its limit. */
const rowsPerPullFactor = 16;

/** Goes from destination to destination, so that a million messages to an excepted one cost nothing. */
export function openPull({ db, clock, tenants }: Store, reading: Reading): Pull {
  const nextOrigin = db.prepare(`
    SELECT origin FROM messages WHERE tenant = ? AND state = ${stateCodes.due} AND origin > ? ORDER BY origin LIMIT 1`);
  const dueTo = db.prepare(`
    SELECT ${hintColumns} FROM messages WHERE tenant = ? AND state = ${stateCodes.due} AND origin = ? AND ${isKnownFormat}
      AND (until IS NULL OR until > ?) ORDER BY position LIMIT ?`);
  const pulledUpTo = new Map<number, number>();

  /** Returns destinations from where the last pull stopped, once around. */
  const originsOf = (tenant: number, except: ReadonlySet<number>): readonly number[] => {
    const start = pulledUpTo.get(tenant) ?? beforeAll;
    pulledUpTo.delete(tenant);
    const found: number[] = [];
    let last = start;
    let wrapped = start === beforeAll;
    for (let looked = 0; looked < originsPerPullMax; looked++) {
      const row = nextOrigin.get(tenant, last);
      const origin = row && integer(row["origin"]);
      const isRound =
        origin === undefined ? wrapped : wrapped && start !== beforeAll && origin > start;
      if (isRound) return found;
      wrapped ||= origin === undefined;
      last = origin ?? beforeAll;
      if (origin !== undefined && !except.has(origin)) found.push(origin);
    }
    pulledUpTo.set(tenant, last);
    return found;
  };

  return (tenantId, limit, exceptOrigins) => {
    const tenant = tenants.find(tenantId);
    if (tenant === undefined) return [];
    const origins = originsOf(tenant, new Set(exceptOrigins));
    const each = Math.min(
      limit,
      Math.ceil((rowsPerPullFactor * limit) / Math.max(1, origins.length)),
    );
    const now = clock.now();
    return origins
      .flatMap((origin) => dueTo.all(tenant, origin, now, each))
      .sort((a, b) => integer(a["position"]) - integer(b["position"]))
      .slice(0, limit)
      .map(reading.hint);
  };
}

/** Below all origins, which are hashes of 32 bits. */
const beforeAll = -1;
