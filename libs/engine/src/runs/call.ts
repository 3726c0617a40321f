/** Calls to third parties: a run waits while the call is made, then its endpoint gets the last answer. */
import {
  answerMessage,
  awaiting,
  callAnswered,
  callbackBody,
  callMessage,
  deliveryOf,
  type Fault,
  isActive,
  limits,
  type Message,
  notBeforeOf,
  partOf,
  type Run,
  type RunCommand,
  type RunItem,
  runMessageId,
} from "@posthaste/domain";
import { type Decision } from "@posthaste/ports";
import { type Published } from "../publish/accept.ts";
import { isOfUseBefore, refusePending, runEnded } from "./append.ts";
import { addressOf, deliveryFor, Deliveries } from "./deliveries.ts";
import { type EndPorts } from "./end.ts";
import { answerFor, type RunPorts } from "./start.ts";

/** Makes the call of a step. The first call of a step counts; an endpoint that is called again makes the same call again. */
export async function placeCall(
  ports: RunPorts,
  command: RunCommand<"call">,
): Promise<Published | Fault> {
  const { step } = command.run;
  const { body } = command;
  const { url } = command.destination;
  const deliveries = new Deliveries(ports, command.tenant, [url]);
  const verdict = await deliveries.change(addressOf(command), (run): Decision<Verdict> => {
    if (!isActive(run) || isOfUseBefore(run, command.run)) return { verdict: runEnded() };
    const next = awaiting(run, { kind: "call", step, isAnswered: false });
    if (!next) return { verdict: { run, isNew: false } };
    const refused = refusePending(next);
    if (refused) return { verdict: refused };
    const now = ports.clock.now();
    const sent = deliveryFor(command, notBeforeOf(command, now));
    const message = callMessage(next, step, { ...sent, body }, now);
    const part = { name: partOf({ role: "call", step }), at: now, body, sent };
    const write = { run: next, parts: [part], deliveries: deliveries.recordsOf([message], now) };
    return { verdict: { run, isNew: true }, write };
  });
  if (!verdict) return runEnded();
  if ("fault" in verdict) return verdict;
  const { isNew, run } = verdict;
  return answerFor(run, runMessageId(run.root, partOf({ role: "call", step })), !isNew, url);
}

type Verdict = Fault | { readonly run: Run; readonly isNew: boolean };

/** Reports the last answer of a call to the endpoint, unless its run no longer needs that. */
export async function deliverCallResult(
  ports: EndPorts,
  message: Message,
  item: RunItem,
): Promise<void> {
  const { run: inRun, policy } = message;
  const key = inRun && deliveryOf(inRun.part);
  const { callback } = policy;
  if (!inRun || key?.role !== "call" || !callback) return;
  const deliveries = new Deliveries(ports, message.tenant, [callback.url]);
  await deliveries.change(inRun, (run): Decision<boolean> => {
    const next = callAnswered(run, key.step);
    if (!next) return { verdict: false };
    const now = ports.clock.now();
    const body = callbackBody(toldOf(message), {
      kind: "callback",
      attempt: item.attempt,
      endedAt: item.endedAt,
      // Endpoints wait for another outcome when they get a failure that is not that of the last allowed attempt.
      retried: isSuccess(item) ? item.attempt : policy.retriesMax,
      ...(item.response && { response: item.response }),
      ...(item.error !== undefined && { error: item.error }),
    });
    const answer = answerMessage(next, key.step, callback, { body, from: message.origin }, now);
    const part = { name: partOf({ role: "answer", step: key.step }), at: now, body };
    const write = { run: next, parts: [part], deliveries: deliveries.recordsOf([answer], now) };
    return { verdict: true, write };
  });
}

const toldOf = (message: Message): Message =>
  message.body.length > limits.runSourceBytesMax ? { ...message, body: noBody } : message;

const noBody = new Uint8Array(0);

const isSuccess = ({ response }: RunItem): boolean =>
  response !== undefined && response.status >= 200 && response.status <= 299;
