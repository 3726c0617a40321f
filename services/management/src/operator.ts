/**
 * Authenticates the operator by the password, or by a session that the password or a provider began. The ended sessions are
 * stored in a secret of the accounts, so that all processes of management know them within five seconds.
 */
import { hash } from "node:crypto";
import { type IncomingMessage } from "node:http";
import {
  type EndedSessions,
  endedSessionsFrom,
  endedSessionsText,
  isSessionOpen,
  noEndedSessions,
  withSessionEnded,
} from "@posthaste/domain";
import {
  onlyValueOf,
  type Refusal,
  type Session,
  sessionHasEnded,
  sessionHeader,
  type SessionKeeper,
  type SessionOwner,
  type Sessions,
  shortSessionId,
} from "@posthaste/http";
import { type Accounts, type Actor, type Clock } from "@posthaste/ports";
import { type CheckOperator, createOperatorCheck, type Credentials } from "./basic.ts";

export type Operator = {
  /** Returns undefined for the operator. */
  readonly refusalOf: (req: IncomingMessage, address: string) => Promise<Refusal | undefined>;
  /** Names the operator of a request that was not refused. */
  readonly actorOf: (req: IncomingMessage) => Actor;
  readonly keeper: SessionKeeper;
};

type OperatorParts = {
  readonly accounts: Pick<Accounts, "secret" | "changeSecret">;
  readonly clock: Clock;
};

type OperatorOptions = {
  readonly credentials: Credentials;
  readonly sessions: Sessions | undefined;
  /** The groups of a provider that count as the operator, by the names that sessions have for them. */
  readonly groups: ReadonlySet<string>;
};

export function createOperator(
  { accounts, clock }: OperatorParts,
  { credentials, groups, sessions }: OperatorOptions,
): Operator {
  const check: CheckOperator = createOperatorCheck(credentials, clock);
  const ended = createEnded(accounts, clock);
  // Changing the password ends all sessions begun by the old one.
  const mark = hash("sha256", `${credentials.user}:${credentials.password}`, "base64url");

  const isOperator = ({ kind, of }: SessionOwner): boolean =>
    kind === "group" ? groups.has(of) : kind === "password" && of === mark;

  const isOpen = async (session: Session): Promise<boolean> =>
    isOperator(session.owner) && isSessionOpen(session, await ended.read(), clock.now());

  async function refusalIn(kept: Sessions, req: IncomingMessage): Promise<Refusal | undefined> {
    const session = kept.named(req);
    return typeof session !== "string" && (await isOpen(session)) ? undefined : sessionHasEnded;
  }

  return {
    refusalOf: async (req, address) => {
      const { authorization, [sessionHeader]: named } = req.headers;
      return sessions && named !== undefined && authorization === undefined
        ? refusalIn(sessions, req)
        : check(onlyValueOf(req, "authorization"), address);
    },
    actorOf: (req) => {
      const session = req.headers.authorization === undefined && sessions?.named(req);
      if (!session || typeof session === "string")
        return { kind: "operator", id: credentials.user };
      const { kind, of } = session.owner;
      const id = kind === "group" ? of : credentials.user;
      return { kind: "operator", id, session: shortSessionId(session) };
    },
    keeper: {
      enter: async (req, address) =>
        check(onlyValueOf(req, "authorization"), address) ?? { kind: "password", of: mark },
      isOpen,
      end: async (session) => {
        if (await isOpen(session)) await ended.add(session);
        return undefined;
      },
    },
  };
}

const secretName = "ended operator sessions";
/** Together with the read, less than the promised five seconds. */
const readEveryMs = 4_000;

function createEnded(accounts: OperatorParts["accounts"], clock: Clock) {
  let known = noEndedSessions;
  let readAt = -Infinity;
  const readNow = async (): Promise<EndedSessions> => {
    const startedAt = clock.passedMs();
    const text = await accounts.secret(secretName, () => endedSessionsText(noEndedSessions));
    known = endedSessionsFrom(text);
    readAt = startedAt;
    return known;
  };
  return {
    read: async (): Promise<EndedSessions> =>
      clock.passedMs() - readAt < readEveryMs ? known : readNow(),
    add: async (session: Session): Promise<void> => {
      await accounts.changeSecret(secretName, (text) =>
        endedSessionsText(withSessionEnded(endedSessionsFrom(text), session, clock.now())),
      );
      await readNow();
    },
  };
}
