/** The session of this tab: with which credentials it asks, and whether these may change anything. */
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
  /** The header, whole. */
  readonly authorization: string;
  /** The server takes the token no more: nothing is asked until there is another. */
  readonly isExpired: boolean;
  readonly signOut: () => void;
};

export const SessionContext = createContext<Session>({
  authorization: "",
  name: "",
  mayWrite: false,
  isExpired: false,
  signOut: () => undefined,
});

export const useSession = (): Session => useContext(SessionContext);
