/** The MessageLog port. Settle and insert write their rows themselves (events.ts); `append` is for facts from elsewhere. */
import { type DatabaseSync } from "node:sqlite";
import { type LogFilter, type MessageId, type PageRequest, type TenantId } from "@posthaste/domain";
import { type MessageLog } from "@posthaste/ports";
import { type Archive } from "../archive.ts";
import { type Store } from "../messages/store.ts";
import { readPage } from "../query/keyset.ts";
import { openTermReading } from "../terms.ts";
import { openLogReading } from "./reading.ts";
import { openLogSweep } from "./sweep.ts";
import { sweepInCommits } from "../query/sweep.ts";

export function openMessageLog(
  store: Store,
  archive: Archive,
  reader: DatabaseSync,
  breathe: () => Promise<void>,
): MessageLog {
  const { writer, tenants, counts, events, names } = store;
  const old = openLogSweep(store);
  const read = openLogReading(reader);
  const rare = openTermReading(reader);

  return {
    writtenBy: "settle",
    append: (entries) =>
      writer.write(() => {
        for (const { message, fact } of entries) {
          const tenant = tenants.take(message.tenant);
          const position = archive.place(message);
          events.created(tenant, position, message.createdAt);
          if (fact) events.ended(tenant, position, fact);
        }
      }, "accepted"),
    list: async (tenantId: TenantId, filter: LogFilter, page: PageRequest) => {
      const tenant = tenants.find(tenantId);
      if (tenant === undefined) return { items: [], positions: [] };
      const { messageIds } = filter;
      const asked = messageIds ? positionsOf(messageIds) : rare(tenantId, filter);
      const scan = read.scan({ tenant, filter, positions: asked, page });
      return readPage({ ...scan, breathe }, page);
    },
    counts: counts.read(reader),
    watch: (tenantId, grown) => events.watch(tenantId, grown),
    sweep: (tenantId, before, limit) =>
      sweepInCommits(writer, old, messagesPerCommitMax, [tenants.find(tenantId), before, limit]),
  };

  function positionsOf(ids: readonly MessageId[]): readonly number[] {
    return [...new Set(ids.flatMap((id) => names.find(id)?.position ?? []))];
  }
}

const messagesPerCommitMax = 200;
