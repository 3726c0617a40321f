import {
  type EntryDelivery,
  type PublishCommand,
  type RunCommand,
  type RunId,
  type RunPublish,
  type TenantId,
} from "@posthaste/domain";
import { type RunAddress } from "@posthaste/ports";

export const isRunCommand = <Kind extends RunPublish["kind"]>(
  command: PublishCommand,
  kind: Kind,
): command is RunCommand<Kind> => command.run?.kind === kind && command.destination.kind === "url";

/** Returns how the command asks for its message to be delivered. */
export function deliveryFor(
  {
    callerIp,
    destination,
    headers,
    hop,
    method,
    policy,
    run,
  }: RunCommand<"call" | "entry" | "start">,
  notBefore: number,
): EntryDelivery {
  const stepName = run.kind === "entry" ? run.stepName : undefined;
  return {
    ...{ url: destination.url, callerIp, headers, hop, method, notBefore, policy },
    ...(stepName !== undefined && { stepName }),
  };
}

export function addressOf({
  run: { createdAt, id },
  tenant,
}: {
  readonly run: { readonly id: RunId; readonly createdAt?: number };
  readonly tenant: TenantId;
}): RunAddress {
  return { tenant, id, ...(createdAt !== undefined && { createdAt }) };
}
