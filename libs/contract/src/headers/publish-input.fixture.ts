import { type Fault, type PublishCommand, defaultPlan, isFault, tenantId } from "@posthaste/domain";
import { parsePublish } from "./parse-publish.ts";
import { type PublishInput } from "./publish-input.ts";

export const now = 1_700_000_000_000;

/** The checks of a caller to which everything is allowed. */
export const parseContext: Omit<PublishInput, "rawHeaders" | "destination" | "body"> = {
  tenant: tenantId("tenant"),
  plan: defaultPlan,
  defaultDialect: "service",
  callerIp: "192.0.2.7",
  now,
  checkRetryDelay: () => undefined,
  spendExpression: () => undefined,
  readUrl: (given) => given,
  leaveOut: () => undefined,
};

type HeaderObject = Readonly<Record<string, string>>;

const flat = (headers: HeaderObject): string[] => Object.entries(headers).flat();

const isFlat = (headers: HeaderObject | readonly string[]): headers is readonly string[] =>
  Array.isArray(headers);

function publishInput(
  headers: HeaderObject | readonly string[],
  changed: Partial<PublishInput> = {},
): PublishInput {
  return {
    rawHeaders: isFlat(headers) ? headers : flat(headers),
    destination: { kind: "url", url: "https://example.com/hook" },
    body: new Uint8Array(),
    ...parseContext,
    ...changed,
  };
}

export const publish = (
  headers: HeaderObject | readonly string[],
  changed: Partial<PublishInput> = {},
): PublishCommand | Fault => parsePublish(publishInput(headers, changed));

export function accepted(
  headers: HeaderObject | readonly string[],
  changed: Partial<PublishInput> = {},
): PublishCommand {
  const command = publish(headers, changed);
  if (isFault(command)) throw new Error(`refused: ${command.text}`);
  return command;
}

export function refused(
  headers: HeaderObject | readonly string[],
  changed: Partial<PublishInput> = {},
): Fault {
  const fault = publish(headers, changed);
  if (!isFault(fault)) throw new Error("accepted");
  return fault;
}
