/**
 * Invocations: a step of one run starts another run, whose end is the step's result. Parent and child are two writes
 * each way. If a process makes only the first, the alarm of the run written first makes the second.
 */
import {
  awaiting,
  type EntryDelivery,
  fault,
  type Fault,
  invocationOf,
  type Invoker,
  invokersOf,
  isActive,
  loggedInvocation,
  type MessageId,
  isStarting,
  notBeforeOf,
  partOf,
  type PartName,
  pendingPart,
  type Run,
  type RunCommand,
  type RunIn,
  type RunPart,
  type RunRef,
  settledInvocation,
  startedInvocation,
  hasInvoker,
  invokersTold,
  withHeir,
} from "@posthaste/domain";
import { type Decision, headAlone, headIfChanged } from "@posthaste/ports";
import { type Published } from "../publish/accept.ts";
import { isOfUseBefore, refusePending, runEnded } from "./append.ts";
import {
  addressOf,
  deliveryFor,
  isRunCommand,
  Deliveries,
  type DeliveryPorts,
  decisionOfResults,
  fitsHistory,
  base64,
  jsonBytes,
  partJson,
  type StepJson,
} from "./deliveries.ts";
import { answerFor, type RunPorts, startAs } from "./start.ts";

type InvokePorts = DeliveryPorts & Pick<RunPorts, "runs">;

type InvokePart = {
  /** The start of the child, with its body in base64. */
  readonly child: Omit<RunCommand<"start">, "body"> & { readonly body: string };
  readonly step: StepJson;
  readonly delivery: EntryDelivery;
};

const partName = (step: number): PartName => pendingPart({ kind: "invoke", step });

/** Stores when the child was created, which is known once the child exists. */
const createdPart = (step: number, { createdAt }: Run, at: number): RunPart => ({
  name: partOf({ role: "invoked", step }),
  at,
  body: jsonBytes({ createdAt }),
});

/** Invokes a child. A repeat starts nothing, whichever child it names. */
export async function invoke(
  ports: RunPorts,
  command: RunCommand<"invoke">,
): Promise<Published | Fault> {
  const { answer, child, step } = command.run;
  if (!isRunCommand(answer, "entry"))
    return fault("run_refused", "body: the step of an invocation has an id");
  const { tenant } = command;
  const parent = addressOf(answer);
  const number = answer.run.key.step;
  const standing = await ports.runs.get({ tenant, id: child.id });
  const childRoot = ports.ids.next();
  const verdict = await ports.runs.change(parent, (run): Decision<Verdict> => {
    if (!isActive(run) || isOfUseBefore(run, answer.run)) return { verdict: runEnded() };
    const known = invocationOf(run, number);
    if (known) return { verdict: { root: known.childRoot, run, isNew: false } };
    if (standing && isActive(standing)) return { verdict: childIsActive };
    const now = ports.clock.now();
    const pending = { kind: "invoke", step: number, childId: child.id, childRoot } as const;
    const next = awaiting(run, { ...pending, startBy: now + startWithinMs });
    if (!next) return { verdict: { root: childRoot, run, isNew: false } };
    const refused = refusePending(next);
    if (refused) return { verdict: refused };
    const kept: InvokePart = {
      child: { ...command, run: child, body: base64(command.body) },
      step,
      delivery: deliveryFor(answer, now),
    };
    const parts = [{ name: partName(number), at: now, body: jsonBytes(kept) }];
    const write = { run: next, parts, deliveries: [] };
    return { verdict: { root: childRoot, run, isNew: true }, write };
  });
  if (!verdict) return runEnded();
  if ("fault" in verdict) return verdict;
  const { isNew, root, run } = verdict;
  if (isNew) await startChild(ports, run, number);
  return answerFor(run, root, !isNew, command.destination.url);
}

type Verdict = Fault | { readonly root: MessageId; readonly run: Run; readonly isNew: boolean };

/** The time after which the alarm starts the child. */
const startWithinMs = 30_000;

const childIsActive = fault("run_refused", "a workflow already exists, its run id is active");

/**
 * Starts the child of an invocation, once however often it is called, since the invocation names its root. A child
 * that was started for the failed run that this one continues reports its end to both.
 */
export async function startChild(ports: InvokePorts, ref: RunRef, step: number): Promise<void> {
  const { clock, runs } = ports;
  const parent = await runs.get(ref);
  const invocation = parent && invocationOf(parent, step);
  if (!parent || !invocation) return;
  const part = await runs.part(parent, partName(step));
  if (!part) return;
  const { child } = partJson<InvokePart>(part);
  const { childRoot } = invocation;
  const { createdAt, id, key, root, url } = parent;
  const invoker = { key, root, id, url, createdAt, step };
  let run = await runs.byRoot(childRoot);
  if (!run) {
    const { trace } = parent.plan;
    const body = new Uint8Array(Buffer.from(child.body, "base64"));
    const command = { ...child, body, ...(trace !== undefined && { trace }) };
    const notBefore = notBeforeOf(command, clock.now());
    ({ run } = await startAs(ports, command, { root: childRoot, invoker }, notBefore, "accepted"));
  }
  // Another start has taken the id of the child, or too many runs wait for the child.
  if (run.root !== childRoot) return answer(ports, invoker, childRoot, { out: failed });
  const out = await joinInvokers(ports, run, invoker);
  if (out !== "later") return answer(ports, invoker, childRoot, { out, child: run });
  const created = createdPart(step, run, clock.now());
  await runs.change(ref, (seen) => {
    const next = startedInvocation(seen, step);
    return next
      ? { verdict: true, write: { run: next, parts: [created], deliveries: [] } }
      : { verdict: false };
  });
}

const failed = { isCanceled: false, isFailed: true } as const;

/** Makes the child report its end to the invoker. If the child has ended, returns the report for now. */
async function joinInvokers(
  ports: InvokePorts,
  child: Run,
  invoker: Invoker,
): Promise<"later" | object> {
  const seen = await ports.runs.change(child, (run): Decision<"later" | "full" | Run> => {
    if (!isActive(run)) return { verdict: run };
    if (hasInvoker(run, invoker)) return { verdict: "later" };
    const next = withHeir(run, invoker);
    if (!next) return { verdict: "full" };
    return { verdict: "later", write: headAlone(next) };
  });
  if (seen === undefined || seen === "full") return failed;
  return seen === "later" ? seen : endOf(ports, seen);
}

async function endOf({ runs }: InvokePorts, ended: Run): Promise<object> {
  const { kind } = ended.state;
  const returned =
    kind === "succeeded" ? await runs.part(ended, partOf({ role: "returned" })) : undefined;
  return {
    ...(returned && { body: new TextDecoder().decode(returned.body) }),
    isCanceled: kind === "canceled",
    isFailed: kind === "failed",
  };
}

/** Tells each run that waits for the child of its end, once. */
export async function answerInvokers(ports: InvokePorts, child: Run): Promise<void> {
  const invokers = invokersOf(child);
  if (invokers.length === 0 || isActive(child)) return;
  const out = await endOf(ports, child);
  for (const invoker of invokers) await answer(ports, invoker, child.root, { out, child });
  await ports.runs.change(child, (run) => headIfChanged(invokersTold(run)));
}

/** `child` is absent when no run has that root. */
type ChildEnd = { readonly out: object; readonly child?: Run };

async function answer(
  ports: InvokePorts,
  { key, root, step }: Invoker,
  childRoot: MessageId,
  { child, out }: ChildEnd,
): Promise<void> {
  const parent = { key, root };
  const part = await ports.runs.part(parent, partName(step));
  if (!part) return;
  const { delivery, step: json } = partJson<InvokePart>(part);
  const { tenant } = (await ports.runs.get(parent)) ?? {};
  if (tenant === undefined) return;
  const deliveries = new Deliveries(ports, tenant, [delivery.url]);
  await deliveries.change(parent, (run): Decision<boolean> => {
    const now = ports.clock.now();
    const result = jsonBytes({ ...json, out: JSON.stringify(out) });
    // The step fails if its result does not fit into the history.
    const body = fitsHistory(run, result)
      ? result
      : jsonBytes({ ...json, out: JSON.stringify(failed) });
    const created = child && isStarting(run, step) ? [createdPart(step, child, now)] : [];
    const waiting: RunIn<"active"> | undefined = settledInvocation(run, step, childRoot);
    if (!waiting) {
      const logged = loggedInvocation(run, step, childRoot);
      if (!logged) return { verdict: false };
      const part = { name: partOf({ role: "result", step }), at: now, body };
      const write = { run: logged, parts: [...created, part], deliveries: [] };
      return { verdict: false, write };
    }
    const ended = { step, body, delivery: { ...delivery, notBefore: now } };
    const { verdict, write } = decisionOfResults(waiting, [ended], deliveries, now, () => true);
    return { verdict, write: { ...write, parts: [...created, ...write.parts] } };
  });
}
