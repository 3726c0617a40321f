/** A store of runs under test, and the steps that bring its runs into the state in which a proof begins. */
import { expect } from "@jest/globals";
import {
  type InRun,
  type MessageId,
  type MessageRecord,
  type Run,
  type RunId,
  type RunPlan,
  type TenantId,
} from "@posthaste/domain";
import {
  type Alarms,
  type FlowLanes,
  type Ids,
  type Records,
  type RunStore,
} from "@posthaste/ports";
import { aTenant } from "../../builders/message.ts";
import { aRunId, aRunStart, type AStep, ending, joining } from "../../builders/run.ts";
import { type Closable, type Guarantee } from "../guarantee.ts";

export type RunsHarness = Closable & {
  readonly runs: RunStore;
  readonly records: Records;
  readonly alarms: Alarms;
  readonly flowLanes: Pick<FlowLanes, "heads">;
  readonly ids: Pick<Ids, "next">;
  readonly now: () => number;
  readonly advance: (ms: number) => Promise<void>;
};

export type RunsGuarantee = Guarantee<RunsHarness>;

export type Given = {
  readonly tenant?: TenantId;
  readonly id?: RunId;
  readonly root?: MessageId;
  readonly body?: Uint8Array;
  readonly delayMs?: number;
  readonly plan?: RunPlan;
};

export function tryStart(
  harness: RunsHarness,
  { tenant = aTenant, id = aRunId, ...rest }: Given = {},
) {
  const given = { tenant, id, root: harness.ids.next(), now: harness.now(), ...rest };
  return harness.runs.start(tenant, id, "new", (use) => aRunStart(use, given));
}

export async function start(harness: RunsHarness, given: Given = {}): Promise<Run> {
  const started = await tryStart(harness, given);
  expect(started.kind).toBe("started");
  return started.run;
}

export const join = (harness: RunsHarness, run: Run, steps: readonly AStep[]) =>
  harness.runs.change(run, (seen) => joining(seen, steps, harness.now()));

export const end = (harness: RunsHarness, run: Run) =>
  harness.runs.change(run, (seen) => ending(seen, harness.now()));

export async function current({ runs }: RunsHarness, run: Run): Promise<Run> {
  const found = await runs.get(run);
  if (!found) throw new Error(`${run.key} is not there`);
  return found;
}

export async function recordOf(
  { records }: RunsHarness,
  { tenant }: Pick<Run, "tenant">,
  id: MessageId,
): Promise<MessageRecord | undefined> {
  const [record] = await records.get(tenant, [id]);
  return record;
}

export const text = (said: string): Uint8Array => new TextEncoder().encode(said);
export const inRun = ({ bytes, createdAt, id, key, root }: Run, part: string): InRun => ({
  ...{ bytes, createdAt, id, key, root, part },
});
