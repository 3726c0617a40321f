/** The fields that reads of a message, its dead letter and its log share, and those that a schedule has, too. */
import { type Configuration, type Policy } from "@posthaste/domain";
import * as z from "zod";
import { type policySettings, shownSettings } from "../headers/policy-settings.ts";
import { type JsonOf } from "./schemas.ts";

export const policyShape = { method: z.string(), ...settingsShape() };

export const configurationShape = {
  url: z.string().describe("Destination URL, as published"),
  topicName: z.string().optional().describe("URL group, when sent to one"),
  endpointName: z.string().optional(),
  ...policyShape,
  maxRetries: z.int(),
  queueName: z.string().optional(),
  scheduleId: z.string().optional(),
  api: z.string().optional().describe("llm, when sent to api/llm"),
  retryOf: z
    .object({ messageId: z.string(), dlqId: z.string() })
    .optional()
    .describe("Present on a retry: the failed message, and its dead letter"),
};

export function configurationJson(message: Configuration) {
  const { origin, policy } = message;
  return {
    url: message.url,
    ...(origin.group && { topicName: origin.group.name }),
    ...(origin.group?.endpointName !== undefined && { endpointName: origin.group.endpointName }),
    method: message.method,
    maxRetries: policy.retriesMax,
    ...(origin.queueName !== undefined && { queueName: origin.queueName }),
    ...(origin.scheduleId !== undefined && { scheduleId: origin.scheduleId }),
    ...(origin.api !== undefined && { api: origin.api }),
    ...(origin.retryOf && {
      retryOf: { messageId: origin.retryOf.message, dlqId: origin.retryOf.letter },
    }),
    callerIP: origin.callerIp,
    ...policyJson(policy),
  };
}

type ShapeOf<Row> = Row extends { readonly shown: { readonly shape: infer Shape } } ? Shape : never;
type Shapes = { [Key in keyof Policy]-?: ShapeOf<(typeof policySettings)[Key]> }[keyof Policy];
/** All members of the shapes of a union. */
type Together<Union> = (Union extends unknown ? (each: Union) => void : never) extends (
  each: infer All,
) => void
  ? All
  : never;
type SettingsShape = Together<Shapes>;

function settingsShape(): SettingsShape;
function settingsShape(): object {
  const shape = {};
  for (const { shown } of shownSettings) Object.assign(shape, shown.shape);
  return shape;
}

/** Returns the settings in the form that the rows give. */
export function policyJson(policy: Policy): JsonOf<z.ZodObject<SettingsShape>>;
export function policyJson(policy: Policy): object {
  const json = {};
  for (const { key, shown } of shownSettings)
    if (policy[key] !== undefined) Object.assign(json, shown.json(policy[key]));
  return json;
}
