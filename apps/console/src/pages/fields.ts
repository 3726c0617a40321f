import { type Field } from "../rules/filters.ts";

export const destination: Field = { name: "url", label: "Destination URL", kind: "text" };
export const host: Field = { name: "host", label: "Host", kind: "text" };
export const label: Field = { name: "label", label: "Label", kind: "text" };
export const from: Field = { name: "fromDate", label: "From", kind: "from" };
export const to: Field = { name: "toDate", label: "To", kind: "to" };

export const seldomOfMessages: readonly Field[] = [
  { name: "messageId", label: "Message id", kind: "text", isSeldom: true },
  { name: "queueName", label: "Queue", kind: "text", isSeldom: true },
  { name: "topicName", label: "Group", kind: "text", isSeldom: true },
  { name: "scheduleId", label: "Schedule", kind: "text", isSeldom: true },
  { name: "flowControlKey", label: "Flow key", kind: "text", isSeldom: true },
  { name: "callerIp", label: "Caller's address", kind: "text", isSeldom: true },
];
