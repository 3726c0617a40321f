/** C20, C21, I5: at rest every record is removed, no slot is held, no attempt is remembered. */
import {
  type FanOut,
  isDerived,
  isExpanding,
  isFinished,
  type MessageId,
  type MessageRecord,
} from "@posthaste/domain";
import { type Backend } from "../backend.ts";
import { type Composition } from "../composition.ts";
import { type History } from "../world/history.ts";

/**
 * Describes what is not at rest: records that are live or have follow-ups to do, and fan-outs without all of their
 * children. A record once found at rest is not read again: no write may wake it.
 */
export function restless(history: History, backend: Backend): () => Promise<readonly string[]> {
  const atRest = new Set<MessageId>();
  return async () => {
    const found: string[] = [];
    for (const [id, record] of await recordsOf(history, backend, (each) => !atRest.has(each))) {
      if (record && (!isFinished(record.state) || record.outbox.length > 0))
        found.push(recordText(record));
      else atRest.add(id);
    }
    for (const fanOut of await fanOutsOf(history, backend))
      if (isExpanding(fanOut)) found.push(`${fanOut.id} ${JSON.stringify(fanOut.state)}`);
    return found;
  };
}

async function fanOutsOf(history: History, { fanOuts }: Backend): Promise<readonly FanOut[]> {
  const found: FanOut[] = [];
  for (const [id, tenant] of history.fanOuts) {
    const [fanOut] = await fanOuts.get(tenant, [id]);
    if (fanOut) found.push(fanOut);
  }
  return found;
}

type Found = readonly (readonly [MessageId, MessageRecord | undefined])[];

async function recordsOf(
  history: History,
  { records }: Backend,
  wanted: (id: MessageId) => boolean,
): Promise<Found> {
  const found: (readonly [MessageId, MessageRecord | undefined])[] = [];
  const lives = [...history.lives.values()].flatMap(([life]) =>
    life && wanted(life.record.message.id) ? [life.record.message] : [],
  );
  for (const [tenant, ofTenant] of Map.groupBy(lives, (message) => message.tenant)) {
    const ids = ofTenant.map(({ id }) => id);
    const read = await records.get(tenant, ids);
    found.push(...ids.map((id, i) => [id, read[i]] as const));
  }
  return found;
}

export const recordText = ({ message, state, outbox, wakeAt }: MessageRecord): string => {
  const items = outbox.map(({ kind }) => kind).join(",");
  return `${message.id} ${JSON.stringify(state)} outbox ${items} alarm ${String(wakeAt)} lane ${message.flow ?? "-"}`;
};

export const describeUnrest = (found: readonly string[]): string =>
  `${found.length} are not at rest: ${found.slice(0, 5).join("; ")}`;

export async function atRest(
  history: History,
  backend: Backend,
  { deliverers, nodes }: Composition,
): Promise<void> {
  const left = (await recordsOf(history, backend, () => true)).filter(
    ([, record]) => record !== undefined,
  );
  if (left.length > 0)
    history.violate(
      "C20",
      `${left.length} records were never swept, such as ${left[0]?.[0] ?? ""}`,
    );
  const [fanOut] = await fanOutsOf(history, backend);
  if (fanOut && !backend.keepsFanOuts)
    history.violate("C20", `the fan-out ${fanOut.id} was never swept`);
  const lanes = new Set(
    [...history.lives.values()].flatMap(([life]) => life?.record.message.flow ?? []),
  );
  for (const lane of lanes) {
    const { slots } = await backend.tokens.peek(lane);
    if (slots > 0) history.violate("C20", `${lane} still has ${slots} slots taken`);
  }
  const tenants = new Set(
    [...history.lives.values()].flatMap(([life]) => life?.record.message.tenant ?? []),
  );
  for (const [life, deliverer] of deliverers())
    for (const tenant of tenants) {
      const held = deliverer.running(tenant);
      if (held > 0) history.violate("C20", `${life.name} still holds ${held} permits of ${tenant}`);
    }
  for (const { name, life } of nodes) {
    // The deliverer has two timers for its standby and for its roster entry; the others are for running attempts.
    if (name.startsWith("deliverer") && life && life.timers > 2)
      history.violate("C20", `${life.name} still has ${life.timers} timers`);
  }
  await checkTombstones(history, backend);
}

/** I5: a derived id is not made again for a day, although its record was removed. */
async function checkTombstones(history: History, backend: Backend): Promise<void> {
  for (const [id, [life]] of history.lives) {
    if (!life || !isDerived(id)) continue;
    const [inserted] = await backend.records.insert([{ record: life.record }], "accepted");
    if (inserted !== "known") history.violate("I5", `${id} was forgotten and could be made again`);
  }
}
