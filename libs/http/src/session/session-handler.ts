/**
 * Serves `/console/session`, where the pages of console and reference sign in and out: POST with an `Authorization`
 * begins a session, POST without one tells which session the browser has, DELETE ends the session that the page
 * names. With a provider, `/console/sign-in` is served too. Neither is part of the API.
 */
import { type IncomingMessage, type ServerResponse } from "node:http";
import { fault, isFault, type OperatorRole, type TenantId } from "@posthaste/domain";
import { type Actor, type Clock, type Log, type Random } from "@posthaste/ports";
import { answer } from "../answers/answer.ts";
import { type Answers, type Refusal } from "../answers/answers.ts";
import { type Audit } from "../audit.ts";
import { type AddressSet, callerIp } from "../caller-ip.ts";
import { isOfOtherOrigin } from "../edge/request-head.ts";
import { createProviderHandler } from "./provider-handler.ts";
import { type ProviderSignIn } from "./provider.ts";
import { type Session, type SessionOwner, type Sessions } from "./sessions.ts";

/** Lets people in and knows which sessions have ended: the gateway by its accounts, management by its own rules. */
export type SessionKeeper = {
  /** Checks the `Authorization` of the request. */
  enter(req: IncomingMessage, address: string): Promise<SessionOwner | Refusal>;
  /** Returns undefined if the session is not open. */
  holderOf(session: Session): Promise<SessionHolder | undefined>;
  end(session: Session): Promise<Refusal | undefined>;
};

/** The owner of an open session, as the audit log names it. */
type SessionHolder = { readonly by: Actor; readonly tenant: TenantId | undefined };

export type SessionHandlerParts = {
  readonly sessions: Sessions;
  readonly keeper: SessionKeeper;
  readonly audit: Audit;
  readonly answers: Answers;
  readonly trustedProxies: AddressSet;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Absent if there is no provider. */
  readonly signIn?: ProviderSignIn | undefined;
};

type Response = ServerResponse<IncomingMessage>;

/** Not `Basic`, for which a browser would ask for user and password in a dialog of its own. */
const challenge = "Session";
const resource = "/console/session";

export const sessionHasEnded: Refusal = {
  ...fault("unauthorized", "the session has ended: sign in again"),
  challenge,
};

export const refusalOfOtherOrigin = fault(
  "forbidden",
  "a page of another origin may not call this",
);

export function createSessionHandler(parts: SessionHandlerParts) {
  const { answers, audit, keeper, sessions, signIn, trustedProxies } = parts;

  /** Begins a session for a person that was let in. The audit log has an entry of it before the browser has its cookie. */
  async function begin(owner: SessionOwner, address: string, isSecure: boolean) {
    const begun = sessions.begin(owner, isSecure);
    const holder = await keeper.holderOf(begun.session);
    if (!holder) return sessionHasEnded;
    return audit({ ...holder, operation: "signIn", resource, address }, async () => ({
      ...begun,
      role: holder.by.role,
    }));
  }

  async function end(session: Session, address: string): Promise<Refusal | undefined> {
    const holder = await keeper.holderOf(session);
    if (!holder) return undefined;
    return audit({ ...holder, operation: "signOut", resource, address }, () => keeper.end(session));
  }

  const byProvider = signIn && createProviderHandler({ ...parts, signIn, begin });
  const provider = signIn && new URL(signIn.provider.issuer).host;

  async function done(req: IncomingMessage): Promise<Done | Refusal> {
    if (isOfOtherOrigin(req)) return refusalOfOtherOrigin;
    const isSecure = isOverTls(req, trustedProxies);
    const address = callerIp(req, trustedProxies);
    if (req.method === "DELETE") {
      const session = sessions.named(req);
      if (typeof session === "string") return {};
      return (await end(session, address)) ?? { setCookie: sessions.clear(isSecure) };
    }
    if (req.headers.authorization === undefined) {
      const session = sessions.ofBrowser(req, isSecure);
      const holder = session && (await keeper.holderOf(session));
      return holder ? { session, role: holder.by.role } : { provider };
    }
    const owner = await keeper.enter(req, address);
    return isFault(owner) ? { ...owner, challenge } : begin(owner, address, isSecure);
  }

  return async (req: IncomingMessage, res: Response): Promise<boolean> => {
    if (req.url !== resource) {
      const led = byProvider?.(req, res);
      await led;
      return led !== undefined;
    }
    if (req.method !== "POST" && req.method !== "DELETE") {
      const refused = fault("method_not_allowed", `${req.method} is not allowed here`);
      answers.fault(res, refused, ["Allow", "POST, DELETE"]);
      return true;
    }
    const result = await done(req);
    if (isFault(result)) answers.fault(res, result);
    else answerDone(res, result);
    return true;
  };
}

type Done = {
  readonly session?: Session;
  readonly setCookie?: string;
  /** The host where a browser without a session may sign in. */
  readonly provider?: string | undefined;
  readonly role?: OperatorRole | undefined;
};

function answerDone(res: Response, { provider, role, session, setCookie }: Done): void {
  const cookie = setCookie === undefined ? [] : ["Set-Cookie", setCookie];
  const body = JSON.stringify({ session: session?.id, provider, role });
  answer(res, 200, body, ["Cache-Control", "no-store", ...cookie]);
}

/** Reports whether the request came over TLS: by the browser's `Origin`, otherwise by the header of a trusted proxy. */
function isOverTls({ headers, socket }: IncomingMessage, trustedProxies: AddressSet): boolean {
  if (headers.origin !== undefined) return headers.origin.startsWith("https://");
  const proto = String(headers["x-forwarded-proto"] ?? "").split(",")[0];
  return proto?.trim() === "https" && trustedProxies.has(socket.remoteAddress ?? "");
}
