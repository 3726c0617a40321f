/** Does the work of a run's alarm: ends overdue waits, starts children, reports to invokers, drops remaining deliveries. */
import {
  isActive,
  limits,
  overdueStarts,
  overdueWaits,
  owesAnswer,
  owesDrop,
  type RunRef,
} from "@posthaste/domain";
import { type DeliveryPorts } from "./deliveries.ts";
import { dropAtLast, type DropPorts } from "./end.ts";
import { answerInvokers, startChild } from "./invoke.ts";
import { type RunPorts } from "./start.ts";
import { timeOutWaits } from "./notify.ts";

type RingPorts = DeliveryPorts & DropPorts & Pick<RunPorts, "runs">;

/** The number of runs worked at the same time, so that many of them leave the stores time for other work. */
const atOnceMax = 25;

/** Rings runs. A failure of one does not stop the rest. Runs not begun by the time of their next alarm are left to it. */
export async function ringRuns(ports: RingPorts, refs: readonly RunRef[]): Promise<void> {
  const until = ports.clock.passedMs() + limits.ringAheadMs;
  const failures: unknown[] = [];
  for (let n = 0; n < refs.length && ports.clock.passedMs() < until; n += atOnceMax) {
    const some = refs.slice(n, n + atOnceMax);
    const ended = await Promise.allSettled(some.map((ref) => ringRun(ports, ref)));
    for (const each of ended) if (each.status === "rejected") failures.push(each.reason);
  }
  if (failures.length > 0)
    throw new AggregateError(
      failures,
      `${failures.length} of ${refs.length} runs will be woken by their alarms`,
    );
}

export async function ringRun(ports: RingPorts, ref: RunRef): Promise<void> {
  const run = await ports.runs.get(ref);
  if (!run) return;
  if (!isActive(run)) {
    if (owesAnswer(run)) await answerInvokers(ports, run);
    if (owesDrop(run)) await dropAtLast(ports, run);
    return;
  }
  const now = ports.clock.now();
  for (const { step } of overdueStarts(run, now)) await startChild(ports, ref, step);
  if (overdueWaits(run, now).length > 0) await timeOutWaits(ports, ref);
}
