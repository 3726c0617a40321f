/** C20 and what holds when nothing is left to do: every record gone, no slot held, no attempt remembered. */
import { isFinished } from "@posthaste/domain";
import { type Backend } from "../backend.ts";
import { type Composition } from "../composition.ts";
import { type History } from "../world/history.ts";

/** Nothing is live and no follow-up is left. Records that have ended may still be readable. */
export const isAtRest = (backend: Backend): boolean =>
  [...backend.inspect.records.values()].every(({ state, outbox }) => isFinished(state) && outbox.length === 0);

export function describeUnrest(backend: Backend): string {
  const restless = [...backend.inspect.records.values()].filter(({ state, outbox }) => !isFinished(state) || outbox.length > 0);
  const shown = restless.slice(0, 5).map(({ message, state, outbox, wakeAt }) => {
    return `${message.id} ${JSON.stringify(state)} outbox ${outbox.map(({ kind }) => kind).join(",")} alarm ${String(wakeAt)} lane ${message.flowLane ?? "-"}`;
  });
  return `${restless.length} records are not at rest: ${shown.join("; ")}`;
}

export async function atRest(history: History, backend: Backend, { nodes }: Composition): Promise<void> {
  if (backend.inspect.records.size > 0) {
    history.violate("C20", `${backend.inspect.records.size} records were never swept, such as ${[...backend.inspect.records.keys()][0] ?? ""}`);
  }
  for (const lane of backend.inspect.lanes.keys()) {
    const { slots } = await backend.tokens.peek(lane);
    if (slots > 0) history.violate("C20", `${lane} still has ${slots} slots taken`);
  }
  for (const { name, life } of nodes) {
    // Its only timers watch over running attempts.
    if (name.startsWith("deliverer") && life && life.timers > 0) history.violate("C20", `${life.name} still has ${life.timers} timers`);
  }
}
