/**
 * Handles webhooks: `/v2/workflows/hooks/{user}/{runId}/{eventId}`, any method and no token, since the address is the secret.
 * Clients draw the event's id, and an id is accepted only if a step of the run has made it or waits for it (ADR 135). A request
 * ends a wait for that webhook, or is kept for the next one.
 */
import { type IncomingMessage, type ServerResponse } from "node:http";
import { decodedLeniently } from "@posthaste/contract";
import {
  fault,
  type Fault,
  groupedHeaders,
  hasHook,
  isFault,
  limits,
  type Run,
  runId,
  type TenantId,
  tenantId,
} from "@posthaste/domain";
import { hookRun, type RunPorts, runForEvent } from "@posthaste/engine";
import { answer, callerIp, createFailureLimit, readBody, type Refusal } from "@posthaste/http";
import { type RequestGuards } from "./guards.ts";
import { inSpan, requestSpan } from "./trace.ts";
import { tooManyEvents } from "./handlers/waits.ts";

type Response = ServerResponse<IncomingMessage>;
type WebhookTarget = { readonly user: string; readonly run: string; readonly event: string };

const prefix = "/v2/workflows/hooks/";
const route = `${prefix}{user}/{runId}/{eventId}`;
const bodyBytesMax = 1024 * 1024;

/** Returns undefined when the request is not for a webhook. */
export function webhookTargetOf(url: string): WebhookTarget | undefined {
  if (!url.startsWith(prefix)) return undefined;
  const [path = ""] = url.slice(prefix.length).split("?");
  const [user, run, event, ...more] = path.split("/").map(decodedLeniently);
  const isHook = user && run && event && event.length <= limits.eventIdLengthMax;
  return isHook && more.length === 0 ? { user, run, event } : undefined;
}

export function createWebhookHandler(guards: RequestGuards, ports: RunPorts) {
  const failures = createFailureLimit(ports.clock);
  return async (
    { user, run, event }: WebhookTarget,
    req: IncomingMessage,
    res: Response,
  ): Promise<void> => {
    const taken = await take();
    if (isFault(taken)) guards.answers.fault(res, taken);
    else answer(res, 200, "{}");

    async function take(): Promise<Fault | undefined> {
      const crowded = guards.admission.refuse("publish");
      if (crowded) return crowded;
      const address = callerIp(req, guards.trustedProxies);
      const tenant = tenantId(user);
      if (guards.isClosed(tenant)) return wrong(address);
      const id = runId(run);
      // Checked before the body is read, so that a stranger's body is not read.
      const found = await runForEvent(ports.runs, { tenant, id });
      if (!found || !hasHook(found, event)) return wrong(address);
      const span = requestSpan(guards.tracer, {
        ...{ tenant, route, method: req.method ?? "" },
        rawHeaders: req.rawHeaders,
      });
      const heard = await inSpan(guards.tracer, { req, span }, () =>
        hear(found, { tenant, address }),
      );
      return isFault(heard) ? heard : undefined;
    }

    async function hear(
      found: Run,
      owner: { readonly tenant: TenantId; readonly address: string },
    ): Promise<{ readonly status: 200 } | Fault> {
      const body = await readBody(res, {
        bytesMax: bodyBytesMax,
        budget: guards.bodyBudget,
        owner,
      });
      if (isFault(body)) return body;
      const heard = JSON.stringify({
        method: req.method ?? "GET",
        header: groupedHeaders(pairsOf(req.rawHeaders)),
        body: Buffer.from(body).toString("base64"),
        ...origin(req),
        url: req.url ?? "",
      });
      const notified = await hookRun(ports, found, event, new TextEncoder().encode(heard));
      if (notified === "full") return tooManyEvents;
      if (notified === "unknown") return wrong(owner.address);
      const refused = notified.flatMap((each) => ("error" in each ? each.error : []));
      return refused[0] === undefined ? { status: 200 } : fault("run_refused", refused[0]);
    }

    /** Returns protocol and host as the sender of the webhook has them, if a trusted proxy says so. */
    function origin({ headers, socket }: IncomingMessage): { proto: string; host: string } {
      const isBelieved = guards.trustedProxies.has(socket.remoteAddress ?? "");
      const said = (name: string): string | undefined =>
        isBelieved
          ? String(headers[name] ?? "")
              .split(",")[0]
              ?.trim()
          : undefined;
      return {
        proto: said("x-forwarded-proto") || "http",
        host: said("x-forwarded-host") || (headers.host ?? ""),
      };
    }
  };

  /**
   * Refuses a wrong address in the same words whether or not the run exists. A right address is accepted however many wrong ones
   * come from its network.
   */
  function wrong(address: string): Refusal {
    const seconds = failures.blockedSeconds(address) ?? failures.failed(address);
    return seconds === undefined ? unknownHook : { ...tooManyWrong, retryAfterSeconds: seconds };
  }
}

const unknownHook = fault("not_found", "no run waits at this address");
const tooManyWrong = fault("too_many_requests", "too many addresses at which no run waits");

const pairsOf = (rawHeaders: readonly string[]): [string, string][] =>
  rawHeaders.flatMap((name, i): [string, string][] =>
    i % 2 === 0 ? [[name, rawHeaders[i + 1] ?? ""]] : [],
  );
