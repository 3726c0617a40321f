/** The parts that a head names. Each name is used once: a change that used one again would lose the stored part. */
import { has } from "./order.ts";
import { deliveryOf, partOf, type PartName } from "./part-key.ts";
import { type Pending, type Run } from "./run.ts";

/** Returns the part that stores how a step waits, until the wait ends. */
export function pendingPart({ kind, step }: Pick<Pending, "kind" | "step">): PartName {
  switch (kind) {
    case "call":
      return partOf({ role: "call", step });
    case "wait":
      return partOf({ role: "wait", step });
    case "invoke":
      return partOf({ role: "invocation", step });
  }
}

export function namesPart({ adoption, history, state }: Run, name: PartName): boolean {
  const key = deliveryOf(name);
  switch (key?.role) {
    case "start":
      return true;
    case "adopted":
      return adoption === "done";
    case "plan":
    case "result":
      if (has(history, { role: key.role, step: key.step })) return true;
      break;
    case "call":
    case undefined:
      break;
    case "answer":
      return state.pending.some((each) => isAnsweredCall(each, key.step));
  }
  if ("notes" in state && state.notes.some(({ part }) => part === name)) return true;
  return state.pending.some((each) => pendingPart(each) === name);
}

const isAnsweredCall = (pending: Pending, step: number): boolean =>
  pending.kind === "call" && pending.step === step && pending.isAnswered;
