import { expect } from "@jest/globals";
import { type AuditEntry, type AuditLog, type AuditPage } from "@posthaste/ports";
import { anotherTenant, aTenant } from "../builders/message.ts";
import { epochStart } from "../virtual-clock.ts";
import { type Closable, contract } from "./guarantee.ts";

export type AuditLogHarness = Closable & { readonly auditLog: AuditLog };

export function describeAuditLog(name: string, open: () => Promise<AuditLogHarness>): void {
  contract(`${name}: audit log`, open, {}, (it) => {
    it("a change is listed when it has begun, and then with its end", async ({ auditLog }) => {
      const entry = anEntry(1, { by: { kind: "group", id: "ops", session: "s" } });

      await auditLog.begin(entry);
      expect(await listed(auditLog)).toEqual([entry]);
      await auditLog.end({ ...entry, result: "done" });
      await auditLog.end({ ...entry, result: "done" });

      expect(await listed(auditLog)).toEqual([{ ...entry, result: "done" }]);
    });

    it("an end without a written beginning has an entry", async ({ auditLog }) => {
      const entry = anEntry(1, { result: "conflict" });

      await auditLog.end(entry);

      expect(await listed(auditLog)).toEqual([entry]);
    });

    it("entries are listed latest first, of one tenant or of all", async ({ auditLog }) => {
      const { tenant: _, ...ofNone } = anEntry(4);
      const entries = [anEntry(1), anEntry(2, { tenant: anotherTenant }), anEntry(3), ofNone];
      for (const entry of [2, 0, 3, 1].flatMap((at) => entries[at] ?? []))
        await auditLog.begin(entry);
      const idsOf = async (asked: Partial<AuditPage>) =>
        (await listed(auditLog, asked)).map(({ id }) => id);

      expect(await idsOf({})).toEqual(["aud_4", "aud_3", "aud_2", "aud_1"]);
      expect(await idsOf({ tenant: aTenant })).toEqual(["aud_3", "aud_1"]);
      expect(await idsOf({ tenant: aTenant, limit: 1 })).toEqual(["aud_3"]);
      expect(await idsOf({ tenant: aTenant, before: "aud_3" })).toEqual(["aud_1"]);
      expect(await idsOf({ before: "aud_3", limit: 1 })).toEqual(["aud_2"]);
      expect(await idsOf({ before: "aud_1" })).toEqual([]);
    });

    it("an expired entry is not listed, and is removed", async ({ auditLog }) => {
      const expiresAt = epochStart + 10;
      for (let n = 10; n < 25; n++) await auditLog.begin(anEntry(n, { expiresAt }));
      const kept = [30, 31].map((n) => anEntry(n, { at: expiresAt }));

      expect(await listed(auditLog, { now: expiresAt - 1 })).toHaveLength(15);
      expect(await listed(auditLog, { now: expiresAt })).toEqual([]);
      for (const entry of kept) await auditLog.begin(entry);

      expect(await listed(auditLog, { now: 0 })).toEqual(kept.toReversed());
    });
  });
}

const listed = (auditLog: AuditLog, asked: Partial<AuditPage> = {}) =>
  auditLog.page({ limit: 100, now: epochStart, ...asked });

const anEntry = (n: number, overrides: Partial<AuditEntry> = {}): AuditEntry => ({
  id: `aud_${n}`,
  at: epochStart,
  tenant: aTenant,
  by: { kind: "token", id: "tok_1", name: "shop" },
  operation: "pauseQueue",
  resource: "/v2/queues/q/pause",
  address: "203.0.113.1",
  expiresAt: epochStart + 1_000,
  ...overrides,
});
