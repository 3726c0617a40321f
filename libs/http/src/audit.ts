/** Writes the audit log for a change: the entry before the change, and the result after it. */
import { type Fault, isFault, type TenantId } from "@posthaste/domain";
import {
  type Actor,
  type AuditEntry,
  type AuditLog,
  type Clock,
  type Log,
  type Random,
} from "@posthaste/ports";

type Change = {
  readonly tenant: TenantId | undefined;
  readonly by: Actor;
  readonly operation: string;
  /** Path and name, without query or body. */
  readonly resource: string;
  readonly address: string;
};

/** Makes a change and returns its result. Rejects, and changes nothing, if the entry cannot be written. */
export type Audit = <T>(change: Change, make: () => Promise<T | Fault>) => Promise<T | Fault>;

type AuditParts = {
  readonly auditLog: Pick<AuditLog, "begin" | "end">;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly auditDays: number;
};

const dayMs = 86_400_000;
const timeLength = 9;
const randomLength = 12;
const resourceLengthMax = 256;

export function createAudit({ auditLog, clock, random, log, auditDays }: AuditParts): Audit {
  /** If its result cannot be written, a change stays and is answered. */
  const end = (entry: AuditEntry): Promise<void> =>
    auditLog.end(entry).catch((error: unknown) => log.warn("audit.not_ended", { error }));
  return async ({ tenant, resource, ...change }, make) => {
    const at = clock.now();
    const entry: AuditEntry = {
      ...change,
      id: `aud_${at.toString(36).padStart(timeLength, "0")}${random.text(randomLength)}`,
      at,
      resource: resource.slice(0, resourceLengthMax),
      ...(tenant !== undefined && { tenant }),
      expiresAt: at + auditDays * dayMs,
    };
    await auditLog.begin(entry);
    const made = await make().catch(async (error: unknown) => {
      await end({ ...entry, result: "internal" });
      throw error;
    });
    await end({ ...entry, result: isFault(made) ? made.fault : "done" });
    return made;
  };
}
