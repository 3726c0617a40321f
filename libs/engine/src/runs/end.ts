/** Ends runs: a run returns, is cancelled, or fails with one of its deliveries. Each end is one write of its head. */
import {
  callbackBody,
  type CallbackItem,
  cancelRun,
  deliveryOf,
  failRun,
  failureDelivery,
  failureMessage,
  finish,
  isActive,
  type Message,
  owesAnswer,
  owesDrop,
  type Run,
  type RunItem,
  type RunPart,
  partOf,
  unmarked,
  leftOpen,
  runMessageId,
  leftDropped,
} from "@posthaste/domain";
import {
  type Decision,
  headAlone,
  type RunAddress,
  type RunStore,
  type Clock,
  type EventBus,
  headIfChanged,
  type Records,
  type TokenStore,
} from "@posthaste/ports";
import { releaseSlots } from "../lanes/slots.ts";
import { wakeLane, wakeSchedulers } from "../publish/announce.ts";
import { isOfUseBefore } from "./append.ts";
import { Deliveries, type DeliveryPorts, jsonBytes } from "./deliveries.ts";
import { answerInvokers } from "./invoke.ts";

export type EndPorts = DeliveryPorts & DropPorts & { readonly runs: RunStore };

/** `unknown`: there is no such run. `before`: it had ended already. */
export type Ended = "now" | "before" | "unknown";

/** Ends a run that returns. `result`: the returned value as JSON; empty for none. */
export const finishRun = (
  ports: EndPorts,
  address: RunAddress,
  result: Uint8Array,
): Promise<Ended> =>
  end(ports, address, (run, now) => {
    const parts: readonly RunPart[] =
      result.length > 0 ? [{ name: partOf({ role: "returned" }), at: now, body: result }] : [];
    return isActive(run) && !isOfUseBefore(run, address)
      ? { verdict: "now", write: { run: finish(run, now), parts, deliveries: [] } }
      : before;
  });

/** Cancels a run for its own endpoint. */
export const endOwnRun = (ports: EndPorts, address: RunAddress): Promise<Ended> =>
  end(ports, address, (run, now) =>
    isActive(run) && !isOfUseBefore(run, address)
      ? { verdict: "now", write: headAlone(cancelRun(run, now)) }
      : before,
  );

export const endRun = (ports: EndPorts, address: RunAddress): Promise<Ended> =>
  end(ports, address, (run, now) =>
    isActive(run) ? { verdict: "now", write: headAlone(cancelRun(run, now)) } : before,
  );

const before: Decision<Ended> = { verdict: "before" };

async function end(
  ports: EndPorts,
  address: RunAddress,
  decide: (run: Run, now: number) => Decision<Ended>,
): Promise<Ended> {
  const { clock, runs } = ports;
  let ended: Run | undefined;
  const verdict = await runs.change(address, (run) => {
    const decision = decide(run, clock.now());
    ended = decision.write?.run;
    return decision;
  });
  if (ended) await followEnd(ports, ended);
  return verdict ?? "unknown";
}

/** Reports to invokers and drops messages. The alarm of the run repeats a part that fails here. */
async function followEnd(ports: EndPorts, ended: Run): Promise<void> {
  await Promise.allSettled([
    owesAnswer(ended) && answerInvokers(ports, ended),
    owesDrop(ended) && dropLeft(ports, ended),
  ]);
}

/** Fails a run after one of its deliveries has failed for good, unless the run has ended or is past that delivery. */
export async function failDelivered(
  ports: EndPorts,
  message: Message,
  item: RunItem,
): Promise<void> {
  const { run: inRun } = message;
  const key = inRun && deliveryOf(inRun.part);
  const { reason } = item;
  if (!inRun || !key || reason === undefined) return;
  const { clock, runs } = ports;
  const isUnmarked = key.role === "start" && (!inRun.detects || reason === "not_a_workflow");
  const payload = await runs.part(inRun, "start");
  const deliveries = new Deliveries(ports, message.tenant, []);
  let ended: Run | undefined;
  const hasFailed = await deliveries.change(inRun, (run): Decision<boolean> => {
    const now = clock.now();
    const { error, response } = item;
    const told = message.policy.failureCallback;
    const failed = failRun(
      run,
      key,
      {
        reason,
        ...(error !== undefined && { error }),
        ...(response && { status: response.status }),
        ...(told && { function: { round: 1, state: "running" } }),
      },
      now,
    );
    ended = failed;
    if (!failed) return { verdict: false, ...(isUnmarked && withoutMarks(run)) };
    const { failure } = failed.state;
    const source = { ...message, body: payload?.body ?? noBody };
    const body = callbackBody(source, {
      kind: "failureCallback",
      attempt: item.attempt,
      retried: item.attempt,
      endedAt: item.endedAt,
      dlqId: failure.dlqId,
      ...toldAnswer(item),
    });
    const sent = told && failureDelivery(failed, told, message.origin, now);
    const parts: readonly RunPart[] = [
      { name: partOf({ role: "failure" }), at: now, body: response?.body ?? noBody },
      sent
        ? { name: partOf({ role: "told", round: 1 }), at: now, body, sent }
        : {
            name: partOf({ role: "failureHeaders" }),
            at: now,
            body: jsonBytes({ headers: response?.headers ?? [] }),
          },
    ];
    const messages = sent ? [failureMessage(failed, sent, body, now)] : [];
    return {
      verdict: true,
      write: { run: failed, parts, deliveries: deliveries.recordsOf(messages, now) },
    };
  });
  if (hasFailed && ended) await followEnd(ports, ended);
}

/** Records that the start of a run was answered without the mark of a workflow, so that no later answer needs it. */
export async function startUnmarked({ runs }: EndPorts, { run: inRun }: Message): Promise<void> {
  if (inRun) await runs.change(inRun, (run) => ({ verdict: undefined, ...withoutMarks(run) }));
}

function withoutMarks(run: Run): Pick<Decision<never>, "write"> {
  const next = unmarked(run);
  return next ? { write: headAlone(next) } : {};
}

/** Returns the answer to report. Replaces the body if the status says success, since that body does not say why the delivery failed. */
function toldAnswer({
  error,
  reason,
  response,
}: RunItem): Pick<CallbackItem, "error" | "response"> {
  const told = errorJson(error ?? reason ?? "");
  if (!response) return { error: told };
  return { response: error === undefined ? response : { ...response, body: utf8(told) } };
}

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Endpoints parse the answer of a failed delivery as JSON. */
const errorJson = (message: string): string => JSON.stringify({ error: "Error", message });

const noBody = new Uint8Array(0);

export type DropPorts = {
  readonly records: Pick<Records, "drop">;
  readonly bus: EventBus;
  readonly clock: Clock;
  /** If absent, the slots expire. */
  readonly tokens?: Pick<TokenStore, "release">;
};

/**
 * Ends the undelivered messages of an ended run. Otherwise they would count in the backlog until their time, for a
 * sleep of a month a month, or be in the line of a flow key and take its grants. Running messages are left alone, and
 * are over when they have ended.
 */
async function dropLeft(ports: DropPorts, ended: Run): Promise<void> {
  const { bus, clock, records, tokens } = ports;
  const names = leftOpen(ended);
  for (let at = 0; at < names.length; at += droppedAtOnce) {
    const some = names.slice(at, at + droppedAtOnce);
    const ids = some.map((name) => runMessageId(ended.root, name));
    const dropped = await records.drop(ended.tenant, ids);
    const lanes = await releaseSlots(tokens, dropped);
    wakeSchedulers(
      bus,
      lanes.map((lane) => wakeLane(lane, clock.now())),
    );
  }
}

const droppedAtOnce = 500;

/** Drops once more after a while, since a process that was slow, or has died, may have left something. */
export async function dropAtLast(
  ports: DropPorts & { readonly runs: RunStore },
  ended: Run,
): Promise<void> {
  await dropLeft(ports, ended);
  await ports.runs.change(ended, (run) => headIfChanged(leftDropped(run)));
}
