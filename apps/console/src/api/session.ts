/** The page's session, which all tabs of the browser share, and its rights to change things. */
import { type Me } from "@posthaste/client/api";
import { createContext, useContext } from "react";

export type Admitted = {
  readonly name: string;
  readonly mayWrite: boolean;
  /** May retry, pause, resume and cancel. Every session with the right to write may do this, too. */
  readonly mayAct: boolean;
  /** The tenant's plan. Undefined for the operator. */
  readonly plan?: Me["plan"];
};

export type Session = Admitted & {
  /** The session's id. The cookie proves the session, and no script can read it. */
  readonly session: string;
  /** The server no longer accepts the session, so nothing is asked until there is another. */
  readonly isExpired: boolean;
  readonly signOut: () => void;
};

export const SessionContext = createContext<Session>({
  session: "",
  name: "",
  mayWrite: false,
  mayAct: false,
  isExpired: false,
  signOut: () => undefined,
});

export const useSession = (): Session => useContext(SessionContext);
