/**
 * The door of webhooks: `/v2/workflows/hooks/{user}/{runId}/{eventId}`, any method and no token, since the address is the
 * secret. What is sent there is an event of that run, which its next wait takes if there is none yet.
 */
import { type IncomingMessage, type ServerResponse } from "node:http";
import { decodedLeniently } from "@posthaste/contract";
import {
  fault,
  type Fault,
  groupedHeaders,
  isActive,
  isFault,
  limits,
  type Run,
  runId,
  type TenantId,
  tenantId,
} from "@posthaste/domain";
import { notifyRun, type RunPorts } from "@posthaste/engine";
import { answer, callerIp, readBody } from "@posthaste/http";
import { type Door } from "./door.ts";
import { inSpan, requestSpan } from "./trace.ts";
import { tooManyEvents } from "./works/waits.ts";

type Response = ServerResponse<IncomingMessage>;
type HookTarget = { readonly user: string; readonly run: string; readonly event: string };

const prefix = "/v2/workflows/hooks/";
const route = `${prefix}{user}/{runId}/{eventId}`;
const bodyBytesMax = 1024 * 1024;

/** Undefined: the request is for no webhook. */
export function hookTargetOf(url: string): HookTarget | undefined {
  if (!url.startsWith(prefix)) return undefined;
  const [path = ""] = url.slice(prefix.length).split("?");
  const [user, run, event, ...more] = path.split("/").map(decodedLeniently);
  const isHook = user && run && event && event.length <= limits.eventIdLengthMax;
  return isHook && more.length === 0 ? { user, run, event } : undefined;
}

export const createHookDoor =
  (door: Door, ports: RunPorts) =>
  async ({ user, run, event }: HookTarget, req: IncomingMessage, res: Response): Promise<void> => {
    const taken = await take();
    if (isFault(taken)) door.answers.fault(res, taken);
    else answer(res, 200, "{}");

    async function take(): Promise<Fault | undefined> {
      const crowded = door.admission.refuse("publish");
      if (crowded) return crowded;
      const address = callerIp(req, door.trustedProxies);
      const tenant = tenantId(user);
      if (door.isClosed(tenant)) return unknownHook;
      const id = runId(run);
      // Before the body: a stranger's is not read.
      const named = await ports.runs.get({ tenant, id });
      const found = named && isActive(named) ? named : await ports.runs.byAlias(tenant, id);
      if (!found) return unknownHook;
      const span = requestSpan(door.tracer, {
        ...{ tenant, route, method: req.method ?? "" },
        rawHeaders: req.rawHeaders,
      });
      const heard = await inSpan(door.tracer, span, () => hear(found, { tenant, address }));
      return isFault(heard) ? heard : undefined;
    }

    async function hear(
      found: Run,
      owner: { readonly tenant: TenantId; readonly address: string },
    ): Promise<{ readonly status: 200 } | Fault> {
      const body = await readBody(res, { bytesMax: bodyBytesMax, budget: door.bodyBudget, owner });
      if (isFault(body)) return body;
      const heard = JSON.stringify({
        method: req.method ?? "GET",
        header: groupedHeaders(pairsOf(req.rawHeaders)),
        body: Buffer.from(body).toString("base64"),
        ...origin(req),
        url: req.url ?? "",
      });
      const notified = await notifyRun(ports, found, event, new TextEncoder().encode(heard), true);
      if (notified === "full") return tooManyEvents;
      if (notified === "unknown") return unknownHook;
      const refused = notified.flatMap((each) => ("error" in each ? each.error : []));
      return refused[0] === undefined ? { status: 200 } : fault("run_refused", refused[0]);
    }

    /** As the sender of the webhook has it, where a proxy that is believed says so. */
    function origin({ headers, socket }: IncomingMessage): { proto: string; host: string } {
      const isBelieved = door.trustedProxies.has(socket.remoteAddress ?? "");
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

const unknownHook = fault("not_found", "no run waits behind this address");

const pairsOf = (rawHeaders: readonly string[]): [string, string][] =>
  rawHeaders.flatMap((name, i): [string, string][] =>
    i % 2 === 0 ? [[name, rawHeaders[i + 1] ?? ""]] : [],
  );
