/**
 * Sessions of people in a browser: sealed cookies, so that every process with the secret of the installation accepts
 * every other process's sessions, and none stores any (docs/adr/0190-a-session-is-a-sealed-cookie.md).
 *
 * (1) A cookie counts only if the page names its session beside it: a request that another page forges has the cookie
 *     but not the name.
 * (2) Over TLS a session begins in a cookie with the prefix `__Host-`, which no other host of the domain can set.
 */
import { createCipheriv, createDecipheriv, hash, randomBytes } from "node:crypto";
import { type IncomingMessage } from "node:http";
import { isSessionOpen, type SessionMade, sessionMs } from "@posthaste/domain";
import { type Clock, type Random } from "@posthaste/ports";
import { cookiesIn, sessionHeader } from "./cookies.ts";

/** `of` is the hash of the token, the mark of the password, or the group of the provider that began the session. */
export type SessionOwner = {
  readonly kind: "token" | "password" | "group";
  readonly of: string;
};

export type Session = SessionMade & { readonly owner: SessionOwner };

const shownIdLength = 8;

/** Returns the part of a session's id that the audit log may show: the whole id is half of what a request needs. */
export const shortSessionId = ({ id }: Session): string => id.slice(0, shownIdLength);

type SessionCookie = { readonly value: string; readonly isSecure: boolean };

export type Sessions = {
  /**
   * Returns the session that the page means, "none" when the page names none, or "ended" when there is no such
   * session or it has expired.
   */
  named(req: IncomingMessage): Session | "none" | "ended";
  /** Returns the session that this browser has; over TLS only one that began there. */
  ofBrowser(req: IncomingMessage, isSecure: boolean): Session | undefined;
  begin(
    owner: SessionOwner,
    isSecure: boolean,
  ): { readonly session: Session; readonly setCookie: string };
  /** Returns a cookie that removes the session's cookie from the browser. */
  clear(isSecure: boolean): string;
};

export type SessionsOptions = {
  /** Sessions of one audience are not valid for the other. */
  readonly audience: "tenant" | "operator";
  /** Belongs to the installation and is the same in all its processes (`Accounts.secret`). */
  readonly secret: string;
  readonly clock: Clock;
  readonly random: Random;
};

const names = {
  tenant: "posthaste-session",
  operator: "posthaste-operator-session",
} as const satisfies Record<SessionsOptions["audience"], string>;

const idLength = 24;

export function createSessions({ audience, secret, clock, random }: SessionsOptions): Sessions {
  const { open, seal } = createSealing(secret, audience);
  const nameOf = (isSecure: boolean): string =>
    isSecure ? `__Host-${names[audience]}` : names[audience];
  const known = [nameOf(true), nameOf(false)];

  /** Opens at most `cookiesMax` cookies: another host of the domain may have set more of the same name. */
  function opened(req: IncomingMessage, wanted: readonly string[]): readonly Session[] {
    const found: SessionCookie[] = [];
    for (const { name, value } of cookiesIn(req.headers.cookie))
      if (wanted.includes(name)) found.push({ value, isSecure: name === nameOf(true) });
    found.sort((a, b) => Number(b.isSecure) - Number(a.isSecure));
    return found.slice(0, cookiesMax).flatMap(({ value }) => {
      const session = sessionIn(open(value));
      return session && isSessionOpen(session, undefined, clock.now()) ? [session] : [];
    });
  }

  const cookie = (isSecure: boolean, value: string, seconds: number): string =>
    `${nameOf(isSecure)}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${isSecure ? "; Secure" : ""}`;

  return {
    named: (req) => {
      const id = req.headers[sessionHeader];
      if (id === undefined) return "none";
      return opened(req, known).find((session) => session.id === id) ?? "ended";
    },
    ofBrowser: (req, isSecure) => opened(req, [nameOf(isSecure)])[0],
    begin: (owner, isSecure) => {
      const session = { id: random.text(idLength), madeAt: clock.now(), owner };
      const value = seal(JSON.stringify([session.id, session.madeAt, owner.kind, owner.of]));
      return { session, setCookie: cookie(isSecure, value, sessionMs / 1_000) };
    },
    clear: (isSecure) => cookie(isSecure, "", 0),
  };
}

const cookiesMax = 4;
const kinds: readonly SessionOwner["kind"][] = ["token", "password", "group"];

/** `text` was sealed by this build or another. */
function sessionIn(text: string | undefined): Session | undefined {
  const fields: unknown = JSON.parse(text ?? "null");
  if (!Array.isArray(fields)) return undefined;
  const [id, madeAt, given, of] = fields.map((field: unknown) => field);
  const kind = kinds.find((one) => one === given);
  if (typeof id !== "string" || typeof madeAt !== "number") return undefined;
  return kind && typeof of === "string" ? { id, madeAt, owner: { kind, of } } : undefined;
}

const algorithm = "aes-256-gcm";
const nonceBytes = 12;
const tagBytes = 16;
const valueLengthMax = 2_048;

function createSealing(secret: string, audience: SessionsOptions["audience"]) {
  const key = hash("sha256", `session ${audience} ${secret}`, "buffer");
  return {
    seal: (text: string): string => {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv(algorithm, key, nonce);
      const sealed = [cipher.update(text, "utf8"), cipher.final()];
      return Buffer.concat([nonce, ...sealed, cipher.getAuthTag()]).toString("base64url");
    },
    /** Returns undefined for a value that was not sealed here. */
    open: (value: string): string | undefined => {
      const bytes = Buffer.from(value.slice(0, valueLengthMax), "base64url");
      if (bytes.length <= nonceBytes + tagBytes) return undefined;
      const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, nonceBytes), {
        authTagLength: tagBytes,
      }).setAuthTag(bytes.subarray(-tagBytes));
      try {
        const text = decipher.update(bytes.subarray(nonceBytes, -tagBytes));
        return Buffer.concat([text, decipher.final()]).toString("utf8");
      } catch {
        return undefined;
      }
    },
  };
}
