/** The part of a message that reads of the message, of its dead letter and of its log have in common. */
import { type Message } from "@posthaste/domain";

export function configurationJson(message: Omit<Message, "body">) {
  const { origin, policy } = message;
  const { callback, failureCallback, flow, labels, retryDelay } = policy;
  const [label] = labels;
  return {
    url: message.url,
    ...(origin.group && { topicName: origin.group.name }),
    ...(origin.group?.endpointName !== undefined && { endpointName: origin.group.endpointName }),
    method: message.method,
    maxRetries: policy.retriesMax,
    ...(callback && { callback: callback.url }),
    ...(failureCallback && { failureCallback: failureCallback.url }),
    ...(origin.queueName !== undefined && { queueName: origin.queueName }),
    ...(origin.scheduleId !== undefined && { scheduleId: origin.scheduleId }),
    callerIP: origin.callerIp,
    ...(label !== undefined && { label, labels }),
    ...(flow && {
      flowControlKey: flow.key,
      ...(flow.limits.parallelism !== undefined && { parallelism: flow.limits.parallelism }),
      ...(flow.limits.rate !== undefined && { rate: flow.limits.rate }),
      period: Math.ceil(flow.limits.periodMs / 1_000),
    }),
    ...(retryDelay !== undefined && { retryDelayExpression: retryDelay }),
    timeout: policy.timeoutMs,
  };
}
