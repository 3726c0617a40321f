/** Whose token the page holds. It is kept for this tab alone, and only while that is open. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { createContext, type ReactNode, useContext, useState } from "react";
import {
  type AnswerOf,
  type AnyAsked,
  type Asked,
  call,
  type OperationId,
  type Refused,
  textOf,
} from "./api.ts";

const storageKey = "posthaste-token";
const refetchMs = 5_000;

type Session = { readonly token: string; readonly tenant: string; readonly mayWrite: boolean };
const SessionContext = createContext<Session>({ token: "", tenant: "", mayWrite: false });

export const useSession = (): Session => useContext(SessionContext);

/** Asked again every few seconds while the tab is visible. */
export function useAsked<Id extends OperationId>(asked: Asked<Id>, isLive = true) {
  const { token } = useSession();
  return useQuery<AnswerOf<Id>, Refused>({
    queryKey: [token, asked],
    queryFn: () => call(token, asked),
    refetchInterval: isLive ? refetchMs : false,
    retry: false,
  });
}

/** A change. Whatever is shown is read again after it. */
export function useChange() {
  const { token } = useSession();
  const queries = useQueryClient();
  return useMutation<unknown, Refused, AnyAsked>({
    mutationFn: (asked) => call<OperationId>(token, asked),
    onSuccess: () => queries.invalidateQueries(),
  });
}

export function SignedIn({ children }: { readonly children: ReactNode }) {
  const [token, setToken] = useState(() => sessionStorage.getItem(storageKey) ?? "");
  const keep = (given: string) => {
    if (given === "") sessionStorage.removeItem(storageKey);
    else sessionStorage.setItem(storageKey, given);
    setToken(given);
  };
  const me = useQuery<AnswerOf<"readMe">, Refused>({
    queryKey: ["me", token],
    queryFn: () => call(token, { id: "readMe" }),
    enabled: token !== "",
    retry: false,
  });
  if (token === "" || me.error) return <SignIn trouble={me.error?.message} keep={keep} />;
  if (!me.data) return <main>Loading…</main>;
  const { tenant, scope } = me.data;
  const session = { token, tenant: textOf(tenant), mayWrite: scope === "full" };
  return (
    <SessionContext value={session}>
      {children}
      <footer>
        <p>
          Tenant {session.tenant}
          {session.mayWrite ? "" : ", a token that may only read"}{" "}
          <button type="button" onClick={() => keep("")}>
            Sign out
          </button>
        </p>
      </footer>
    </SessionContext>
  );
}

type SignInProps = { readonly trouble: string | undefined; readonly keep: (token: string) => void };

function SignIn({ trouble, keep }: SignInProps) {
  return (
    <main>
      <h1>Posthaste</h1>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          keep(textOf(new FormData(event.currentTarget).get("token")).trim());
        }}
      >
        <label>
          Token
          <input name="token" type="password" autoComplete="off" required />
        </label>
        <button type="submit">Sign in</button>
      </form>
      {trouble !== undefined && (
        <p role="alert" className="trouble">
          {trouble}
        </p>
      )}
    </main>
  );
}
