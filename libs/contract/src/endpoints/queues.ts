/** FIFO queues (docs/design/queues). */
import { type Fault, isFault, queueParallelismDefault } from "@posthaste/domain";
import * as z from "zod";
import { jsonBody, strictObject } from "../bodies/json.ts";
import { flag, readQuery } from "../queries/query-values.ts";
import { millisecondsShape } from "../representations/schemas.ts";
import { isName } from "../wire/text.ts";
import { endpoint } from "./endpoint.ts";

const queueSchema = z
  .object({
    name: z.string(),
    createdAt: millisecondsShape,
    updatedAt: millisecondsShape,
    parallelism: z.int().describe("How many messages of the queue may be under way at once"),
    paused: z.boolean(),
    lag: z.int().describe("Messages that have not ended"),
  })
  .meta({ id: "Queue" });

const putSchema = strictObject({
  queueName: z
    .string("must be a string")
    .refine(isName, "letters, digits, '-', '_' and '.' only, at most 128 characters"),
  parallelism: z
    .int("must be a whole number")
    .min(1, "must be at least 1")
    .nullish()
    .describe(`If absent, unchanged, or ${queueParallelismDefault} for a new queue`),
  paused: z
    .boolean("must be true or false")
    .nullish()
    .describe("If absent, unchanged, or false for a new queue"),
});

const dryRunSchema = z.object({
  dryRun: z.literal(true),
  matched: z.int().describe("Messages that would be cancelled"),
});

function parseDryRun(search: string): { readonly dryRun: boolean } | Fault {
  const values = readQuery(search, new Set(["dryRun"]));
  if (isFault(values)) return values;
  const dryRun = flag(values, "dryRun");
  return isFault(dryRun) ? dryRun : { dryRun };
}

const name = { names: ["queueName"] } as const;

export const queues = {
  upsertQueue: endpoint({
    method: "post",
    path: "/v2/queues",
    kind: "write",
    summary: "Make a queue, or set parallelism and pause of an existing one",
    body: jsonBody(putSchema),
    namedBy: ({ queueName }) => queueName,
    answers: { 200: { says: "The queue has these settings" } },
    faults: ["forbidden", "beyond_plan", "too_large"],
  }),
  listQueues: endpoint({
    method: "get",
    path: "/v2/queues",
    kind: "list",
    summary: "List queues, by name",
    answers: { 200: { says: "All queues", schema: z.array(queueSchema), inPieces: true } },
    faults: [],
  }),
  readQueue: endpoint({
    method: "get",
    path: "/v2/queues/{queueName}",
    kind: "read",
    ...name,
    summary: "Read a queue",
    answers: { 200: { says: "The queue", schema: queueSchema } },
    faults: ["not_found"],
  }),
  removeQueue: endpoint({
    method: "delete",
    path: "/v2/queues/{queueName}",
    kind: "write",
    ...name,
    summary: "Delete a queue, and cancel the messages in it",
    query: { names: new Set(["dryRun"]), parse: parseDryRun },
    answers: {
      200: {
        says: "Deleted, or there was none: the body is empty. After a dry run: nothing was done",
        schema: dryRunSchema,
        mayBeEmpty: true,
      },
    },
    faults: ["forbidden"],
  }),
  pauseQueue: endpoint({
    method: "post",
    path: "/v2/queues/{queueName}/pause",
    kind: "act",
    ...name,
    summary:
      "Pause a queue, which is made if it does not exist: none of its messages is attempted for the first time",
    answers: { 200: { says: "Paused" } },
    faults: ["forbidden", "beyond_plan"],
  }),
  resumeQueue: endpoint({
    method: "post",
    path: "/v2/queues/{queueName}/resume",
    kind: "act",
    ...name,
    summary: "Resume a queue",
    answers: { 200: { says: "Resumed, or there is none" } },
    faults: ["forbidden"],
  }),
};
