/**
 * Retries dead letters: each letter becomes a message under an id derived from it, and is removed once the message is durable.
 * After a crash between the two the letter is still there; another retry within a day finds its own message (E1, E2). If that
 * retry has another body, it answers with a fault, since the message has the body of the retry that made it.
 */
import {
  accept,
  type Configuration,
  type DeadLetter,
  type DlqId,
  fault,
  type Fault,
  idOfRetriedLetter,
  isFault,
  type Message,
  type MessageId,
  type Overrides,
  retriedMessage,
  type TenantId,
} from "@posthaste/domain";
import { type DeadLetters, type Queues, type Tenant } from "@posthaste/ports";
import { makeQueues } from "../lanes/queues.ts";
import { type AcceptPorts } from "../publish/accept.ts";
import { announceInBackground, insertAccepted } from "../publish/announce.ts";

export type RetryLettersPorts = Pick<
  AcceptPorts,
  "records" | "bus" | "ids" | "clock" | "sha256"
> & { readonly deadLetters: DeadLetters; readonly queues: Pick<Queues, "make"> };

/** The changes of the request's headers, and the check whether they are allowed for a stored message. */
export type Change = {
  readonly overrides: Overrides;
  readonly refuse: (message: Configuration) => Fault | undefined;
};

/**
 * Returns the new messages in the order of `named`, one for each letter, however often it is named. Does nothing when
 * a letter of `needed` is missing, when the changes are not allowed for one, or when the plan has no room for a queue
 * that was deleted since. Another missing letter was taken since it was found.
 */
export async function retryLetters(
  ports: RetryLettersPorts,
  { id: tenant, plan }: Pick<Tenant, "id" | "plan">,
  named: readonly DlqId[],
  { overrides, refuse }: Change,
  needed: readonly DlqId[] = named,
): Promise<readonly MessageId[] | Fault> {
  const ids = [...new Set(named)];
  const wanted = [...new Set([...named, ...needed])];
  if (wanted.length === 0) return [];
  const found = await find(ports, tenant, wanted);
  const there = new Set(found.map(({ id }) => id));
  const missing = needed.find((id) => !there.has(id));
  if (missing !== undefined) return unknownLetter(missing);
  const refused = found.map(({ message }) => refuse(message)).find(isFault);
  if (refused) return refused;
  const queues = queuesOf(found, ids);
  const refusal = queues.length > 0 && (await makeQueues(ports, tenant, queues, plan));
  if (refusal) return refusal.refused;
  const made = new Map<DlqId, MessageId>();
  // All bodies of a page share a bound, so a page may be short.
  for (let open = ids; open.length > 0; open = open.filter((id) => !made.has(id))) {
    const page = { limit: open.length, order: "earliestFirst" } as const;
    const { items } = await ports.deadLetters.list(tenant, { ids: open }, page);
    // Another retry, or a deletion, has taken the missing letters meanwhile.
    if (items.length === 0) break;
    const now = ports.clock.now();
    const records = items.map((letter) => {
      const position = ports.ids.positionAt(letter.failedAt);
      const id = idOfRetriedLetter(tenant, letter.id, position, ports.sha256);
      made.set(letter.id, id);
      return accept(retriedMessage(letter, id, overrides, now), now, !ports.bus.isUp());
    });
    const fresh = await insertAccepted(ports, records);
    announceInBackground(ports, records);
    await ports.deadLetters.remove(
      tenant,
      items.map(({ id }) => id),
    );
    const known = overrides.body && records.find((record) => !fresh.includes(record));
    if (known) return retriedAlready(known.message);
  }
  return ids.flatMap((id) => made.get(id) ?? []);
}

/** Reads the letters without their bodies. */
async function find(
  { deadLetters }: RetryLettersPorts,
  tenant: TenantId,
  ids: readonly DlqId[],
): Promise<readonly DeadLetter[]> {
  const page = { limit: ids.length, order: "earliestFirst", bodyBytesMax: 0 } as const;
  return (await deadLetters.list(tenant, { ids }, page)).items;
}

function queuesOf(letters: readonly DeadLetter[], ids: readonly DlqId[]): readonly string[] {
  const named = letters.filter(({ id }) => ids.includes(id));
  return [...new Set(named.flatMap(({ message }) => message.origin.queueName ?? []))];
}

const retriedAlready = ({ id, origin }: Message): Fault =>
  fault(
    "conflict",
    `dead letter ${origin.retryOf?.letter} was retried already, as ${id}, without the body of this request`,
  );

export const unknownLetter = (id: DlqId): Fault =>
  fault("not_found", `dead letter ${id.slice(0, 128)} not found`);
