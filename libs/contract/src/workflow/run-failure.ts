/** The failure of a run: what its endpoint answered last, and what has become of its failure function. */
import {
  type Headers,
  isFinished,
  type MessageRecord,
  type PartName,
  type Run,
  type RunPart,
} from "@posthaste/domain";
import { headersOf, objectOf, parsedJson } from "./run-step.ts";

export const functionStates = [
  "CALLBACK_INPROGRESS",
  "CALLBACK_SUCCESS",
  "CALLBACK_FAIL",
  "CALLBACK_CANCELED",
] as const;
export type FunctionState = (typeof functionStates)[number];

type Reading = {
  readonly run: Run;
  readonly parts: ReadonlyMap<PartName, RunPart>;
  readonly records: ReadonlyMap<PartName, MessageRecord>;
};

/** Undefined: the run has none. A record that is gone has ended, and of a failure the head tells. */
export function functionState({ parts, records, run }: Reading): FunctionState | undefined {
  if (run.state.kind !== "failed" || !parts.has("f")) return undefined;
  if (run.state.failure.functionFailed) return "CALLBACK_FAIL";
  const record = records.get("f");
  if (record && !isFinished(record.state)) return "CALLBACK_INPROGRESS";
  return record?.state.kind === "failed" ? "CALLBACK_FAIL" : "CALLBACK_SUCCESS";
}

/** Its headers are known by what the failure function is told. */
export function failureAnswer({ parts, run }: Reading): {
  readonly status: number;
  readonly headers: Headers;
} {
  const failed = run.state.kind === "failed" ? run.state.failure : undefined;
  const told = parts.get("f");
  const json = told ? objectOf(parsedJson(new TextDecoder().decode(told.body))) : {};
  return { status: failed?.status ?? 0, headers: headersOf(json["header"]) };
}
