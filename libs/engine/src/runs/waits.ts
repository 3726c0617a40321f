/** Makes waits: a run waits for an event, unless such an event has already come for it. */
import {
  awaiting,
  fault,
  type Fault,
  isActive,
  isFault,
  oldestNote,
  type PublishCommand,
  withHooks,
  withoutNote,
} from "@posthaste/domain";
import { type Decision } from "@posthaste/ports";
import { isOfUseBefore, refusePending, runEnded, tooLong } from "./append.ts";
import { addressOf, deliveryFor, isRunCommand } from "./commands.ts";
import { Deliveries } from "./deliveries.ts";
import { partName, tooMany, triesMax, type Waiter, type WaitPart } from "./kept-waits.ts";
import { decisionOfResults, fitsHistory } from "./entries.ts";
import { base64, jsonBytes, type StepJson } from "./json-parts.ts";
import { type RunPorts } from "./start.ts";

export type WaitCommand = {
  /** The publish of the step whose result is the event; the result is delivered as this publish would be. */
  readonly command: PublishCommand;
  readonly event: string;
  readonly timeoutMs: number;
  readonly step: StepJson;
  readonly waiter: Omit<Waiter, "deadline">;
};

/** Returns undefined when the run waits, or did. May be called again. */
export async function placeWait(
  ports: RunPorts,
  { command, event, step, timeoutMs, waiter }: WaitCommand,
): Promise<Fault | undefined> {
  if (!isRunCommand(command, "entry")) return fault("internal", "a wait is of a step");
  const { key } = command.run;
  const address = addressOf(command);
  const way = step["stepType"] === "WaitForWebhook" ? "webhook" : "told";
  for (let tries = 0; tries < triesMax; tries++) {
    const seen = await ports.runs.get(address);
    if (!seen || !isActive(seen) || isOfUseBefore(seen, address)) return runEnded();
    const note = oldestNote(seen, event, way);
    const given = note && (await ports.runs.part(seen, note.part));
    const deliveries = new Deliveries(ports, command.tenant, [command.destination.url]);
    const placed = await deliveries.change(address, (run): Decision<Placed> => {
      if (!isActive(run) || isOfUseBefore(run, address)) return { verdict: runEnded() };
      if (oldestNote(run, event, way)?.part !== note?.part) return { verdict: "again" };
      const now = ports.clock.now();
      const deadline = now + timeoutMs;
      const pending = { kind: "wait", step: key.step, event, by: way, deadline } as const;
      const next = awaiting(run, pending);
      const waiting = next && way === "webhook" ? withHooks(next, [event]) : next;
      if (!waiting) return { verdict: "known" };
      const refused = refusePending(waiting);
      if (refused) return { verdict: refused };
      const delivery = deliveryFor(command, now);
      const kept = { ...waiter, deadline: Math.ceil(deadline / 1_000) };
      const wait: WaitPart = { delivery, step, waiter: kept, deadline };
      const part = { name: partName(key.step), at: now, body: jsonBytes(wait) };
      if (note && given) {
        const out = { waitEventId: event, out: base64(given.body) };
        const ended = { step: key.step, body: jsonBytes({ ...step, ...out }), delivery };
        if (!fitsHistory(run, ended.body)) return { verdict: tooLong };
        const before = withoutNote(run, note.part);
        const { write } = decisionOfResults(before, [ended], deliveries, now, () => "waits");
        // The log shows how long each wait would have lasted.
        return { verdict: "waits", write: { ...write, parts: [part, ...write.parts] } };
      }
      return { verdict: "waits", write: { run: waiting, parts: [part], deliveries: [] } };
    });
    if (placed === "again") continue;
    if (placed === undefined) return runEnded();
    if (isFault(placed)) return placed;
    const at = ports.clock.now() + timeoutMs;
    ports.bus
      .publish("scheduler.wake", [{ shard: seen.shard, at, source: "run" }])
      .catch(() => undefined);
    return undefined;
  }
  throw tooMany();
}

type Placed = Fault | "again" | "known" | "waits";
