/** The session that this page acts in, which all tabs of the browser share, and whether it may change anything. */
import { type Me } from "@posthaste/client/api";
import { createContext, useContext } from "react";

export type Admitted = {
  /** Of whom the page is, in words. */
  readonly name: string;
  readonly mayWrite: boolean;
  /** The session of a tenant. */
  readonly plan?: Me["plan"];
};

export type Session = Admitted & {
  /** The id of the session. A cookie proves the session, and no script can read it. */
  readonly session: string;
  /** The server takes it no more: nothing is asked until there is another. */
  readonly isExpired: boolean;
  readonly signOut: () => void;
};

export const SessionContext = createContext<Session>({
  session: "",
  name: "",
  mayWrite: false,
  isExpired: false,
  signOut: () => undefined,
});

export const useSession = (): Session => useContext(SessionContext);
