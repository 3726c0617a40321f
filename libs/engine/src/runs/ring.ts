/** What the alarm of a run calls for: waits whose time is up, children that were not started, an invoker that was not told, deliveries that are left. */
import {
  type InRun,
  isActive,
  overdueStarts,
  overdueWaits,
  owesAnswer,
  owesDrop,
} from "@posthaste/domain";
import { type DeliveryPorts } from "./deliveries.ts";
import { dropAtLast, type DropPorts } from "./drop.ts";
import { answerInvokers, startChild } from "./invoke.ts";
import { type RunPorts } from "./start.ts";
import { timeOutWaits } from "./notify.ts";

export async function ringRun(
  ports: DeliveryPorts & DropPorts & Pick<RunPorts, "runs">,
  ref: Pick<InRun, "key" | "root">,
): Promise<void> {
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
