/** The body of an invocation, from an endpoint: the request to the child, and the step that gets its end. */
import { type Fault, fault, isFault } from "@posthaste/domain";
import * as z from "zod";
import { longOf, readWithLong } from "../bodies/json-string.ts";
import { type InTurns } from "../bodies/pause.ts";
import { isLong, stepIsTooLong } from "./wait-body.ts";

const invokeSchema = z.object({
  body: z.string().nullish(),
  headers: z.record(z.string(), z.array(z.string())),
  workflowRunId: z.string(),
  workflowRunCreatedAt: z.number().nullish(),
  workflowUrl: z.string(),
  step: z.looseObject({ stepId: z.int() }),
});

export type InvokeBody = Omit<z.output<typeof invokeSchema>, "body"> & {
  readonly body: Uint8Array;
};

/** Never returns a fault with 400, which an endpoint takes for the end of its run. */
export function* readInvoke(bytes: Uint8Array): InTurns<InvokeBody | Fault> {
  const read = yield* readWithLong(bytes, "body", "body", "last");
  if (isFault(read)) return { ...read, fault: "run_refused" };
  const { success, data, error } = invokeSchema.safeParse(read.json);
  if (success)
    return isLong(data.step)
      ? stepIsTooLong
      : { ...data, body: yield* (read.long ?? longOf(data.body ?? "")).said() };
  const [issue] = error.issues;
  return fault("run_refused", `body.${issue?.path.join(".") ?? ""}: ${issue?.message ?? ""}`);
}
