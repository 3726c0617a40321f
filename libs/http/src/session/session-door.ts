/**
 * `/console/session`, where the pages of console and reference sign in and out: POST with an `Authorization` begins a session, POST
 * without one tells which session the browser has, DELETE ends the session that the page names. With a provider, `/console/sign-in` is
 * served too. Neither is part of the API.
 */
import { type IncomingMessage, type ServerResponse } from "node:http";
import { fault, isFault } from "@posthaste/domain";
import { type Clock, type Log, type Random } from "@posthaste/ports";
import { answer } from "../answers/answer.ts";
import { type Answers, type Refusal } from "../answers/answers.ts";
import { type AddressSet, callerIp } from "../caller-ip.ts";
import { isOfOtherOrigin } from "../edge/request-head.ts";
import { createProviderDoor } from "./provider-door.ts";
import { type ProviderSignIn } from "./provider.ts";
import { type Session, type SessionOwner, type Sessions } from "./sessions.ts";

/** Lets people in and knows which sessions have ended: the gateway by its accounts, management by its own rules. */
export type SessionKeeper = {
  /** Checks the `Authorization` of the request. */
  enter(req: IncomingMessage, address: string): Promise<SessionOwner | Refusal>;
  isOpen(session: Session): Promise<boolean>;
  end(session: Session): Promise<Refusal | undefined>;
};

export type SessionDoorParts = {
  readonly sessions: Sessions;
  readonly keeper: SessionKeeper;
  readonly answers: Answers;
  readonly trustedProxies: AddressSet;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Absent where there is no provider. */
  readonly signIn?: ProviderSignIn | undefined;
};

type Response = ServerResponse<IncomingMessage>;

/** Not `Basic`: a browser would ask for user and password in a dialog of its own. */
const challenge = "Session";

export const sessionHasEnded: Refusal = {
  ...fault("unauthorized", "the session has ended: sign in again"),
  challenge,
};

export const refusalOfOtherOrigin = fault("forbidden", "a page of another origin may not ask");

export function createSessionDoor(parts: SessionDoorParts) {
  const { answers, keeper, sessions, signIn, trustedProxies } = parts;
  const byProvider = signIn && createProviderDoor({ ...parts, signIn });
  const provider = signIn && new URL(signIn.provider.issuer).host;

  async function done(req: IncomingMessage): Promise<Done | Refusal> {
    if (isOfOtherOrigin(req)) return refusalOfOtherOrigin;
    const isSecure = isOverTls(req, trustedProxies);
    if (req.method === "DELETE") {
      const session = sessions.named(req);
      if (typeof session === "string") return {};
      return (await keeper.end(session)) ?? { setCookie: sessions.clear(isSecure) };
    }
    if (req.headers.authorization === undefined) {
      const session = sessions.ofBrowser(req, isSecure);
      return session && (await keeper.isOpen(session)) ? { session } : { provider };
    }
    const owner = await keeper.enter(req, callerIp(req, trustedProxies));
    return isFault(owner) ? { ...owner, challenge } : sessions.begin(owner, isSecure);
  }

  return async (req: IncomingMessage, res: Response): Promise<boolean> => {
    if (req.url !== "/console/session") {
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
};

function answerDone(res: Response, { provider, session, setCookie }: Done): void {
  const cookie = setCookie === undefined ? [] : ["Set-Cookie", setCookie];
  const body = JSON.stringify({ session: session?.id, provider });
  answer(res, 200, body, ["Cache-Control", "no-store", ...cookie]);
}

/** Reports whether the request came over TLS: by the browser's `Origin`, else by the word of a trusted proxy. */
function isOverTls({ headers, socket }: IncomingMessage, trustedProxies: AddressSet): boolean {
  if (headers.origin !== undefined) return headers.origin.startsWith("https://");
  const proto = String(headers["x-forwarded-proto"] ?? "").split(",")[0];
  return proto?.trim() === "https" && trustedProxies.has(socket.remoteAddress ?? "");
}
