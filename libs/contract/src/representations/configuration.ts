/** The fields that reads of a message, its dead letter and its log share, and those of them that a schedule has, too. */
import { type Configuration, type Policy } from "@posthaste/domain";
import * as z from "zod";

export const policyShape = {
  method: z.string(),
  callback: z.string().optional(),
  failureCallback: z.string().optional(),
  label: z.string().optional().describe("The first label"),
  labels: z.array(z.string()).optional(),
  flowControlKey: z.string().optional(),
  parallelism: z.int().optional(),
  rate: z.int().optional(),
  period: z.int().optional().describe("Seconds; present whenever there is a flow control key"),
  retryDelayExpression: z.string().optional(),
  timeout: z.int().describe("Milliseconds"),
};

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
    .describe("Of a retry: the message that failed, and its dead letter"),
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

export function policyJson({
  callback,
  failureCallback,
  flow,
  labels,
  retryDelay,
  timeoutMs,
}: Policy) {
  const [label] = labels;
  return {
    ...(callback && { callback: callback.url }),
    ...(failureCallback && { failureCallback: failureCallback.url }),
    ...(label !== undefined && { label, labels }),
    ...(flow && {
      flowControlKey: flow.key,
      ...(flow.limits.parallelism !== undefined && { parallelism: flow.limits.parallelism }),
      ...(flow.limits.rate !== undefined && { rate: flow.limits.rate }),
      period: Math.ceil(flow.limits.periodMs / 1_000),
    }),
    ...(retryDelay !== undefined && { retryDelayExpression: retryDelay }),
    timeout: timeoutMs,
  };
}
