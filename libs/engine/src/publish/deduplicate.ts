/**
 * Deduplication that never loses a message (docs/design/deduplication#take-over): a key that exists names an id that
 * exists, or is about to. A publisher that finds a pending key waits a second and then takes over with the same id.
 */
import {
  type DeduplicationKey,
  deduplicationKeys,
  fault,
  type Fault,
  isFault,
  keepsKey,
  limits,
  type MessageId,
  type PublishCommand,
  type Sha256Hex,
  type TenantId,
} from "@posthaste/domain";
import {
  type Clock,
  type MessageLog,
  pause,
  type Records,
  type TokenStore,
  type Window,
} from "@posthaste/ports";

export type Claimed =
  | { readonly kind: "mine" }
  /** Another publish may insert under this id, or has done so. The caller inserts under the same id, then confirms. */
  | { readonly kind: "takeOver"; readonly id: MessageId }
  | { readonly kind: "duplicate"; readonly id: MessageId };

type Entry = { readonly key: DeduplicationKey; readonly id: MessageId };
type Ports = { readonly tokens: TokenStore; readonly clock: Clock };

/** Returns the ids whose work was cancelled or removed; a key that names one is taken over. */
export type FindGone = (ids: readonly MessageId[]) => Promise<ReadonlySet<MessageId>>;

export async function claimKeys(
  ports: Ports,
  entries: readonly Entry[],
  goneOf: FindGone,
): Promise<readonly Claimed[] | Fault> {
  const begunAt = ports.clock.passedMs();
  let windows = await ports.tokens.claim(entries);
  if (windows.some(({ kind }) => kind === "pending")) {
    await pause(ports.clock, limits.deduplicationPendingMs);
    windows = await ports.tokens.claim(entries);
  }
  const named = windows.flatMap((window) => (window.kind === "done" ? window.id : []));
  const gone = named.length > 0 ? await goneOf(named) : noneGone;
  if (gone.size > 0) windows = await claimInstead(ports, entries, windows, gone);
  if (ports.clock.passedMs() - begunAt > limits.deduplicationClaimMsMax) {
    return fault(
      "outcome_unknown",
      "the deduplication window was not reached in time; repeat with the same deduplication id",
    );
  }
  return entries.map((entry, i) => verdict(entry, windows[i]));
}

/** Claims the keys of messages and runs that no longer keep them. A key that another publish has taken over meanwhile is then pending. */
async function claimInstead(
  { tokens }: Ports,
  entries: readonly Entry[],
  windows: readonly Window[],
  gone: ReadonlySet<MessageId>,
): Promise<readonly Window[]> {
  const left = entries.flatMap((entry, i) => {
    const window = windows[i];
    return window?.kind === "done" && gone.has(window.id) ? [{ ...entry, instead: window.id }] : [];
  });
  const claimed = await tokens.claim(left);
  const found = new Map(left.map(({ id }, i) => [id, claimed[i]]));
  return windows.map((window, i) => {
    const entry = entries[i];
    return (entry && found.get(entry.id)) ?? window;
  });
}

const noneGone: ReadonlySet<MessageId> = new Set();

type WorkPorts = {
  readonly records: Pick<Records, "progress">;
  readonly messageLog: Pick<MessageLog, "list">;
};

/** Returns the messages of `ids` that were cancelled. Their records show it, and once these are removed the log, which is written before the removal. */
export const goneMessages =
  ({ records, messageLog }: WorkPorts, tenant: TenantId): FindGone =>
  async (ids) => {
    const standing = await records.progress(tenant, ids);
    const isGone = (id: MessageId, i: number): boolean => {
      const state = standing[i]?.state;
      return state !== undefined && !keepsKey(state.kind);
    };
    const gone = new Set(ids.filter(isGone));
    const messageIds = ids.filter((_, i) => standing[i] === undefined);
    // Bounded by the keys of one claim: each page continues after the one before.
    let after: string | undefined;
    do {
      if (messageIds.length === 0) break;
      const page = await messageLog.list(
        tenant,
        { messageIds, states: ["CANCELED"] },
        {
          limit: messageIds.length,
          order: "latestFirst",
          bodyBytesMax: 0,
          ...(after !== undefined && { after }),
        },
      );
      for (const { message } of page.items) gone.add(message.id);
      after = page.next;
    } while (after !== undefined);
    return gone;
  };

/** The key of a publish to a URL, and the id that the message has, or will have. */
type ClaimedOnce = Entry & { readonly isDuplicate: boolean };

/** Claims the key of a publish to a URL. `own`: the id to use if no other publish has the key. */
export async function claimOnce(
  ports: Ports & { readonly sha256: Sha256Hex },
  command: PublishCommand,
  own: MessageId,
  goneOf: FindGone,
): Promise<ClaimedOnce | Fault> {
  const [key] = deduplicationKeys(command, [], ports.sha256);
  if (key === undefined) return fault("internal", "no deduplication key");
  const claimed = await claimKeys(ports, [{ key, id: own }], goneOf);
  if (isFault(claimed)) return claimed;
  const [found] = claimed;
  if (!found) return fault("internal", "no answer from the deduplication window");
  return {
    key,
    id: found.kind === "mine" ? own : found.id,
    isDuplicate: found.kind === "duplicate",
  };
}

function verdict(entry: Entry, window: Window | undefined): Claimed {
  if (window === undefined || window.kind === "mine") return { kind: "mine" };
  if (window.kind === "done") return { kind: "duplicate", id: window.id };
  return window.id === entry.id ? { kind: "mine" } : { kind: "takeOver", id: window.id };
}

/**
 * Confirms keys after the insert. Never rejects, since the stored record is answered for; keys that cannot be
 * confirmed are tried again in the background. Until then they name the same id, for as long as a window lasts.
 */
export async function confirmKeys(ports: Ports, entries: readonly Entry[]): Promise<void> {
  try {
    await ports.tokens.confirm(entries);
  } catch {
    void confirmLater(ports, entries);
  }
}

/** The number of keys that wait for their confirmation, by token store. Keys beyond `unconfirmedMax` stay pending. */
const unconfirmed = new WeakMap<TokenStore, number>();
const unconfirmedMax = 100_000;
const confirmTries = 10;

async function confirmLater({ tokens, clock }: Ports, entries: readonly Entry[]): Promise<void> {
  const waiting = unconfirmed.get(tokens) ?? 0;
  if (waiting + entries.length > unconfirmedMax) return;
  unconfirmed.set(tokens, waiting + entries.length);
  for (let tries = 0; tries < confirmTries; tries++) {
    await pause(clock, limits.deduplicationPendingMs * 2 ** tries);
    const isDone = await tokens.confirm(entries).then(
      () => true,
      () => false,
    );
    if (isDone) break;
  }
  unconfirmed.set(tokens, (unconfirmed.get(tokens) ?? 0) - entries.length);
}
