/** The session of this tab: with which credentials it asks, and whether these may change anything. */
import { createContext, useContext } from "react";

export type Session = {
  /** The header, whole. */
  readonly authorization: string;
  /** Of whom the page is, in words. */
  readonly name: string;
  readonly mayWrite: boolean;
  readonly signOut: () => void;
};

export const SessionContext = createContext<Session>({
  authorization: "",
  name: "",
  mayWrite: false,
  signOut: () => undefined,
});

export const useSession = (): Session => useContext(SessionContext);
