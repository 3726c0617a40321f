/** Results that do not come from the endpoint: they join the history and are delivered. */
import {
  append,
  bytesOfEntry,
  type EntryDelivery,
  limits,
  type Run,
  type RunIn,
} from "@posthaste/domain";
import { type Decision } from "@posthaste/ports";
import { type Deliveries } from "./deliveries.ts";
import { entriesOf } from "./entries.ts";

export type StepJson = Readonly<Record<string, unknown>>;

/** A step that waited, with its result. */
export type EndedStep = {
  readonly step: number;
  readonly body: Uint8Array;
  readonly delivery: EntryDelivery;
};

export const hasRoomFor = (run: Pick<Run, "bytes">, body: Uint8Array): boolean =>
  run.bytes + bytesOfEntry(body) <= limits.runHistoryBytesMax;

/** Writes results. The steps must be distinct and have no result yet. */
export function resultsOf<V>(
  run: RunIn<"active">,
  ended: readonly EndedStep[],
  deliveries: Deliveries,
  now: number,
  verdictOf: (run: Run) => V,
): Required<Omit<Decision<V>, "intake">> {
  const results = ended.map(({ step, ...rest }) => ({
    ...rest,
    key: { role: "result", step } as const,
  }));
  const appended = append(
    run,
    results.map(({ key }) => key),
  );
  if (appended.kind === "refused") throw new Error(appended.text);
  const bytes = ended.reduce((sum, { body }) => sum + bytesOfEntry(body), run.bytes);
  const next = { ...appended.run, bytes };
  const write = entriesOf(next, run.history.length, results, deliveries, now);
  return { verdict: verdictOf(next), write };
}

export const jsonBytes = (json: object): Uint8Array =>
  new TextEncoder().encode(JSON.stringify(json));

/** Parses a part that this folder wrote as JSON; the only place where such a type is trusted without a check. */
export const partJson = <T>({ body }: { readonly body: Uint8Array }): T =>
  JSON.parse(new TextDecoder().decode(body)) as T;

export const base64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64");
