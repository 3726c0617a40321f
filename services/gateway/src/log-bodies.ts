/** The bodies of messages on a page of their log. A body is served while its record lives. */
import { logEntryJson, type LogEntryJson, type LogView } from "@posthaste/contract";
import { limits, type MessageId, type TenantId } from "@posthaste/domain";
import { type LogEntry } from "@posthaste/ports";
import { type Reads } from "./reads.ts";

type View = LogView & { readonly bodyBytesMax: number };

export type LogShower = {
  readonly show: (entries: readonly LogEntry[]) => Promise<readonly LogEntryJson[]>;
  /** Reports whether as many bytes of bodies were read as one page may read. */
  readonly isSpent: () => boolean;
};

/** Shows events with the bodies of their messages. Each body is read once, as long as it fits. */
export function createLogShower(
  { bodies: read }: Pick<Reads, "bodies">,
  tenant: TenantId,
  view: View,
): LogShower {
  const { bodyBytesMax } = view;
  const bodies = new Map<MessageId, Uint8Array | undefined>();
  let bytesRead = 0;
  let held = 0;

  async function readMissing(entries: readonly LogEntry[]): Promise<void> {
    if (held > limits.pageBytesMax) {
      bodies.clear();
      held = 0;
    }
    const ids = entries.map(({ message }) => message.id);
    const missing = new Set(ids.filter((id) => !bodies.has(id)));
    for (const id of missing) bodies.set(id, undefined);
    // Each turn reads at least one body.
    for (let left: readonly MessageId[] = [...missing]; left.length > 0;) {
      const some = await read(tenant, left);
      for (const { message } of some.records) {
        const { id, body, policy } = message;
        bytesRead += body.length;
        // A hash needs the whole body; otherwise only the shown part is kept.
        const kept = policy.redaction?.body ? body : body.slice(0, bodyBytesMax + 1);
        held += kept.length;
        bodies.set(id, kept);
      }
      left = some.left;
    }
  }

  return {
    show: async (entries) => {
      if (bodyBytesMax > 0) await readMissing(entries);
      return entries.map((entry) => {
        const body = bodies.get(entry.message.id);
        return logEntryJson({ ...entry, ...(body && { body }) }, view);
      });
    },
    isSpent: () => bytesRead > limits.readBytesMax,
  };
}
