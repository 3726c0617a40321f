/**
 * Authenticates operators by a password, or by a session that a password or a provider began, and finds the role of
 * each. The ended sessions are stored in a secret of the accounts, so that all processes of management know them
 * within five seconds.
 */
import { hash } from "node:crypto";
import { type IncomingMessage } from "node:http";
import {
  type EndedSessions,
  endedSessionsFrom,
  endedSessionsText,
  isFault,
  isSessionOpen,
  noEndedSessions,
  type OperatorRole,
  withSessionEnded,
} from "@posthaste/domain";
import {
  singleHeader,
  type Refusal,
  type Session,
  sessionHasEnded,
  sessionHeader,
  type SessionKeeper,
  type Sessions,
  shortSessionId,
} from "@posthaste/http";
import { type Accounts, type Actor, type Clock } from "@posthaste/ports";
import { type CheckOperator, createOperatorCheck, type Credentials } from "./basic.ts";

/** The operator of a request, as the audit log names it. */
export type OperatorActor = Actor & { readonly role: OperatorRole };

export type Operators = {
  readonly callerOf: (req: IncomingMessage, address: string) => Promise<OperatorActor | Refusal>;
  readonly keeper: SessionKeeper;
};

type OperatorParts = {
  readonly accounts: Pick<Accounts, "secret" | "changeSecret">;
  readonly clock: Clock;
};

type OperatorOptions = {
  readonly credentials: readonly Credentials[];
  readonly sessions: Sessions | undefined;
  /** The roles of a provider's groups, by the names that sessions have for them. */
  readonly groups: ReadonlyMap<string, OperatorRole>;
};

export function createOperators(
  { accounts, clock }: OperatorParts,
  { credentials, groups, sessions }: OperatorOptions,
): Operators {
  const check: CheckOperator = createOperatorCheck(credentials, clock);
  const ended = createEnded(accounts, clock);
  const byMark = new Map(credentials.map((one) => [markOf(one), one]));

  async function actorOf(session: Session): Promise<OperatorActor | undefined> {
    const { kind, of } = session.owner;
    const byPassword = kind === "password" ? byMark.get(of) : undefined;
    const role = kind === "group" ? groups.get(of) : byPassword?.role;
    if (role === undefined || !isSessionOpen(session, await ended.read(), clock.now()))
      return undefined;
    return { kind: "operator", id: byPassword?.user ?? of, role, session: shortSessionId(session) };
  }

  async function actorIn(kept: Sessions, req: IncomingMessage): Promise<OperatorActor | Refusal> {
    const session = kept.named(req);
    return (typeof session !== "string" && (await actorOf(session))) || sessionHasEnded;
  }

  return {
    callerOf: async (req, address) => {
      const { authorization, [sessionHeader]: named } = req.headers;
      if (sessions && named !== undefined && authorization === undefined)
        return actorIn(sessions, req);
      const found = check(singleHeader(req, "authorization"), address);
      return isFault(found) ? found : { kind: "operator", id: found.user, role: found.role };
    },
    keeper: {
      enter: async (req, address) => {
        const found = check(singleHeader(req, "authorization"), address);
        return isFault(found) ? found : { kind: "password", of: markOf(found) };
      },
      holderOf: async (session) => {
        const by = await actorOf(session);
        return by && { by, tenant: undefined };
      },
      end: async (session) => {
        await ended.add(session);
        return undefined;
      },
    },
  };
}

/** Returns the mark of a password: changing it ends all sessions begun by the old one. */
const markOf = ({ user, password }: Credentials): string =>
  hash("sha256", `${user}:${password}`, "base64url");

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
