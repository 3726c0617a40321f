/** Drawn programs, and the next action of an endpoint that replays one, which uses only the delivered history. */
import { type MessageId, type TenantId } from "@posthaste/domain";

export type Step =
  /** Code of the endpoint. Throws this many times, or for ever, before it returns. */
  | { readonly kind: "code"; readonly throws: number; readonly isFinal: boolean }
  | { readonly kind: "sleep"; readonly ms: number }
  | { readonly kind: "call"; readonly url: string; readonly retriesMax: number }
  | { readonly kind: "wait"; readonly event: string; readonly timeoutMs: number }
  /** Code that sends an event to all runs that wait for it. */
  | { readonly kind: "notify"; readonly event: string }
  | { readonly kind: "invoke"; readonly program: number };

export type Program = {
  readonly index: number;
  readonly tenant: TenantId;
  readonly url: string;
  readonly parts: readonly Part[];
};

/** The steps from `from` on: a single one, or a parallel group. */
export type Part = {
  readonly from: number;
  readonly isGroup: boolean;
  readonly steps: readonly Step[];
};

/** An entry of a delivered history, after the payload. */
export type Entry = {
  readonly id: MessageId;
  readonly step: number;
  readonly isPlan: boolean;
  /** The content of a result. */
  readonly said: string;
};

export type Turn =
  | { readonly kind: "plan"; readonly from: number; readonly steps: readonly Step[] }
  | {
      readonly kind: "step";
      readonly number: number;
      readonly step: Step;
      readonly inGroup: boolean;
    }
  | { readonly kind: "nothing" }
  | { readonly kind: "finish" };

/** Returns undefined when no endpoint that runs the program could have caused this history. */
export function turnOf({ parts }: Program, entries: readonly Entry[]): Turn | undefined {
  let seen = 0;
  for (const { from, isGroup, steps } of parts) {
    const mine = entries.filter(({ step }) => step >= from && step < from + steps.length);
    const [only] = steps;
    if (!isGroup && only) {
      if (mine.length === 0)
        return seen === entries.length
          ? { kind: "step", number: from, step: only, inGroup: false }
          : undefined;
      if (mine.length > 1 || mine[0]?.isPlan) return undefined;
    } else {
      if (mine.length === 0)
        return seen === entries.length ? { kind: "plan", from, steps } : undefined;
      if (mine.length > 2 * steps.length) return undefined;
      if (mine.length < 2 * steps.length) {
        const last = mine.at(-1);
        const step = last && steps[last.step - from];
        return last?.isPlan && step
          ? { kind: "step", number: last.step, step, inGroup: true }
          : { kind: "nothing" };
      }
    }
    seen += mine.length;
  }
  return seen === entries.length ? { kind: "finish" } : undefined;
}

export const stepsOf = ({ parts }: Program): ReadonlyMap<number, Step> =>
  new Map(parts.flatMap(({ from, steps }) => steps.map((step, i) => [from + i, step] as const)));

export const outcomeOf = (program: Program, entries: readonly Entry[]): readonly string[] =>
  [...stepsOf(program).keys()].map(
    (number) => entries.find(({ step, isPlan }) => step === number && !isPlan)?.said ?? "",
  );

/** Returns the result of a code step, however often it runs. */
export const returned = ({ index }: Program, number: number): string =>
  `step ${number} of program ${index}`;

export const entryBody = (step: number, isPlan: boolean, out: string): Uint8Array =>
  new TextEncoder().encode(
    JSON.stringify(isPlan ? { stepId: 0, targetStep: step } : { stepId: step, out }),
  );

/** Reads the delivered history without its first entry, the payload. */
export function readHistory(body: Uint8Array): {
  readonly program: number;
  readonly entries: readonly Entry[];
} {
  const history = JSON.parse(new TextDecoder().decode(body)) as readonly {
    readonly messageId: MessageId;
    readonly body: string;
  }[];
  const [payload, ...rest] = history.map(({ messageId, body: text }) => ({
    messageId,
    said: JSON.parse(Buffer.from(text, "base64").toString()) as StepJson & { program?: number },
  }));
  return {
    program: payload?.said.program ?? -1,
    entries: rest.map(({ messageId, said }) => ({
      id: messageId,
      step: said.targetStep ?? said.stepId,
      isPlan: said.targetStep !== undefined,
      said: saidBy(said),
    })),
  };
}

type StepJson = {
  readonly stepId: number;
  readonly targetStep?: number;
  readonly out?: string;
  readonly waitEventId?: string;
  readonly waitTimeout?: boolean;
};

export const timedOut = "timed out";
export const eventPrefix = "event ";

function saidBy({ out = "", waitEventId, waitTimeout }: StepJson): string {
  if (waitTimeout) return timedOut;
  if (waitEventId === undefined) return out;
  return eventPrefix + Buffer.from(out, "base64").toString();
}

export const readResult = (body: Uint8Array): string =>
  saidBy(JSON.parse(new TextDecoder().decode(body)) as StepJson);
