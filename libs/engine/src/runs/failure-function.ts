/** Failure functions, which are called when a run fails, in rounds. Ends, cancels and repeats a round. */
import {
  failureMessage,
  fault,
  type Fault,
  functionAgain,
  functionCanceled,
  functionEnded,
  type Message,
  partKeyOf,
  type Run,
  type RunItem,
  type RunPart,
  partOf,
} from "@posthaste/domain";
import { headIfChanged } from "@posthaste/ports";
import { Deliveries, base64, jsonBytes } from "./deliveries.ts";
import { type EndPorts } from "./end.ts";

/** Ends a round whose destination has answered, or will not be called again. */
export async function failureTold(
  { clock, runs }: EndPorts,
  { run: inRun }: Message,
  { reason, response }: RunItem,
): Promise<void> {
  const key = inRun && partKeyOf(inRun.part);
  if (!inRun || key?.role !== "told") return;
  const { round } = key;
  await runs.change(inRun, (run) => {
    const next = functionEnded(run, round, reason === undefined ? "succeeded" : "failed");
    if (!next) return { verdict: undefined };
    const parts: readonly RunPart[] = response
      ? [
          {
            name: partOf({ role: "reply", round }),
            at: clock.now(),
            body: jsonBytes(keptOf(response)),
          },
        ]
      : [];
    return { verdict: undefined, write: { run: next, parts, deliveries: [] } };
  });
}

/** Returns the headers as they came, and the body in base64. */
const keptOf = ({ body, headers, status }: NonNullable<RunItem["response"]>) => ({
  status,
  headers,
  body: base64(body),
});

/** Cancels the running round. Returns false when none is running. */
export async function cancelFunction(ports: EndPorts, failed: Run): Promise<boolean> {
  const isCanceled = await ports.runs.change(failed, (run) => headIfChanged(functionCanceled(run)));
  return isCanceled ?? false;
}

/** Begins another round after one that has failed or was cancelled. */
export async function restartFailureFunction(
  ports: EndPorts,
  failed: Run,
): Promise<Fault | undefined> {
  const { clock, runs } = ports;
  const told = await runs.part(failed, partOf({ role: "told", round: 1 }));
  const { body, sent } = told ?? {};
  if (!body || !sent) return hasNone;
  const deliveries = new Deliveries(ports, failed.tenant, [sent.url]);
  const isAgain = await deliveries.change(failed, (run) => {
    const next = functionAgain(run);
    if (!next?.state.failure.function) return { verdict: false };
    const now = clock.now();
    const message = failureMessage(next, { ...sent, notBefore: now }, body, now);
    const part = {
      name: partOf({ role: "told", round: next.state.failure.function.round }),
      at: now,
      body,
    };
    const write = { run: next, parts: [part], deliveries: deliveries.recordsOf([message], now) };
    return { verdict: true, write };
  });
  return isAgain ? undefined : hasNotFailed;
}

const hasNone = fault("malformed", "the run has no failure function");
const hasNotFailed = fault("malformed", "the failure function of the run has not failed");
