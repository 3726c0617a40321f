/** `POST /v2/trigger/{destination}`: a publish that starts a run, whose failure function is the endpoint's where none is named. */
import { parsePublish, startedText, triggerHeaders } from "@posthaste/contract";
import { fault, isFault, type PublishCommand } from "@posthaste/domain";
import { startRunOf } from "@posthaste/engine";
import { type Random } from "@posthaste/ports";
import { type RawWork } from "../raw-door.ts";
import { closed, type PublishParts } from "./publish.ts";

const idLength = 21;

export const triggerWork =
  (parts: PublishParts & { readonly random: Random }): RawWork =>
  async ({ req, tenant, callerIp, target, body }) => {
    const { accept, isClosed, judge, random, rates } = parts;
    const { destination, queryConfig } = target;
    const command = parsePublish({
      ...judge(tenant, callerIp),
      rawHeaders: triggerHeaders(req.rawHeaders, () => `wfr_${random.text(idLength)}`),
      queryConfig,
      destination,
      body,
    });
    if (isFault(command)) return command;
    if (command.run?.kind !== "start" || command.destination.kind !== "url")
      return fault("malformed", "a trigger starts a run of the workflow at a URL");
    if (isClosed()) return closed;
    const spending = rates.spendMessages(tenant, () => 1);
    const exceeded = spending && (await spending);
    if (exceeded) return exceeded;
    const { run } = await startRunOf(accept, withFailureFunction(command, command.destination.url));
    return { status: 200, text: startedText(run) };
  };

function withFailureFunction(command: PublishCommand, url: string): PublishCommand {
  const { policy } = command;
  const { failureCallback = told(url, policy.timeoutMs) } = policy;
  return { ...command, policy: { ...policy, failureCallback } };
}

const told = (url: string, timeoutMs: number) =>
  ({ url, method: "POST", headers: [], delayMs: 0, timeoutMs }) as const;
