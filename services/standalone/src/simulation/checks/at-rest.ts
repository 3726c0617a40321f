/** C20, C21, I5: when nothing is left to do every record is gone, no slot is held, no attempt is remembered. */
import { isDerived, isFinished, type MessageId, type MessageRecord } from "@posthaste/domain";
import { type Backend } from "../backend.ts";
import { type Composition } from "../composition.ts";
import { type History } from "../world/history.ts";

/** Records that are live or have follow-ups to do. Those once found at rest are not asked for again: no write may wake them. */
export function restlessRecords(
  history: History,
  backend: Backend,
): () => Promise<readonly MessageRecord[]> {
  const atRest = new Set<MessageId>();
  return async () => {
    const restless: MessageRecord[] = [];
    for (const [id, record] of await recordsOf(history, backend, (each) => !atRest.has(each))) {
      if (record && (!isFinished(record.state) || record.outbox.length > 0)) restless.push(record);
      else atRest.add(id);
    }
    return restless;
  };
}

type Found = readonly (readonly [MessageId, MessageRecord | undefined])[];

async function recordsOf(
  history: History,
  { messages }: Backend,
  wanted: (id: MessageId) => boolean,
): Promise<Found> {
  const found: (readonly [MessageId, MessageRecord | undefined])[] = [];
  const lives = [...history.lives.values()].flatMap(([life]) =>
    life && wanted(life.record.message.id) ? [life.record.message] : [],
  );
  for (const [tenant, ofTenant] of Map.groupBy(lives, (message) => message.tenant)) {
    const ids = ofTenant.map(({ id }) => id);
    const records = await messages.get(tenant, ids);
    found.push(...ids.map((id, i) => [id, records[i]] as const));
  }
  return found;
}

export function describeUnrest(restless: readonly MessageRecord[]): string {
  const shown = restless.slice(0, 5).map(({ message, state, outbox, wakeAt }) => {
    const items = outbox.map(({ kind }) => kind).join(",");
    return `${message.id} ${JSON.stringify(state)} outbox ${items} alarm ${String(wakeAt)} lane ${message.flowLane ?? "-"}`;
  });
  return `${restless.length} records are not at rest: ${shown.join("; ")}`;
}

export async function atRest(
  history: History,
  backend: Backend,
  { nodes }: Composition,
): Promise<void> {
  const left = (await recordsOf(history, backend, () => true)).filter(
    ([, record]) => record !== undefined,
  );
  if (left.length > 0)
    history.violate(
      "C20",
      `${left.length} records were never swept, such as ${left[0]?.[0] ?? ""}`,
    );
  const lanes = new Set(
    [...history.lives.values()].flatMap(([life]) => life?.record.message.flowLane ?? []),
  );
  for (const lane of lanes) {
    const { slots } = await backend.tokens.peek(lane);
    if (slots > 0) history.violate("C20", `${lane} still has ${slots} slots taken`);
  }
  for (const { name, life } of nodes) {
    // Beside the one that stands by, its timers watch over running attempts.
    if (name.startsWith("deliverer") && life && life.timers > 1)
      history.violate("C20", `${life.name} still has ${life.timers} timers`);
  }
  await checkTombstones(history, backend);
}

/** I5: for a day a derived id is not made again, although its record is gone. */
async function checkTombstones(history: History, backend: Backend): Promise<void> {
  for (const [id, [life]] of history.lives) {
    if (!life || !isDerived(id)) continue;
    const [inserted] = await backend.messages.insert([{ record: life.record }]);
    if (inserted !== "known") history.violate("I5", `${id} was forgotten and could be made again`);
  }
}
