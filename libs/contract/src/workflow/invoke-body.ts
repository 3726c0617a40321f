/** What an endpoint says of an invocation: what the child gets, and how the step is told of its end. */
import { type Fault, fault, isFault } from "@posthaste/domain";
import * as z from "zod";
import { readJson } from "../bodies/json.ts";

const invokeSchema = z.object({
  body: z.string().nullish(),
  headers: z.record(z.string(), z.array(z.string())),
  workflowRunId: z.string(),
  workflowRunCreatedAt: z.number().nullish(),
  workflowUrl: z.string(),
  step: z.looseObject({ stepId: z.int() }),
});

export type InvokeBody = z.output<typeof invokeSchema>;

/** Never 400: an endpoint takes that for the end of its run. */
export function parseInvoke(bytes: Uint8Array): InvokeBody | Fault {
  const read = readJson(bytes, "", bytes.length);
  if (isFault(read)) return { ...read, fault: "run_refused" };
  const { success, data, error } = invokeSchema.safeParse(read.json);
  if (success) return data;
  const [issue] = error.issues;
  return fault("run_refused", `body.${issue?.path.join(".") ?? ""}: ${issue?.message ?? ""}`);
}
