/**
 * Shows nothing before the server has accepted the browser's session, or credentials that begin one. A passing fault, such as
 * a server that restarts, does not sign out.
 */
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { type ReactNode, useEffect, useMemo, useState } from "react";
import { isPassing } from "../api/asked.ts";
import { enter, leave, Refused, type Role } from "../api/call.ts";
import { type Admitted, SessionContext } from "../api/session.ts";
import { wordsOf } from "../api/text.ts";
import { SignIn, SignInAgain, type SignInField } from "./sign-in.tsx";

export type Admission = {
  readonly fields: readonly SignInField[];
  readonly authorizationOf: (values: readonly string[]) => string;
  readonly admit: (session: string, role: Role) => Promise<Admitted>;
};

type State =
  | { readonly kind: "out"; readonly trouble: string }
  | {
      readonly kind: "checking" | "waiting";
      /** Undefined for the browser's own session. */
      readonly authorization: string | undefined;
      readonly trouble: string;
    }
  | { readonly kind: "leaving"; readonly session: string; readonly trouble: string }
  | ({ readonly kind: "in"; readonly isExpired: boolean } & Entered);

type Entered = { readonly session: string; readonly admitted: Admitted };

const againMs = 2_000;

export function Gate({
  admission,
  children,
}: {
  readonly admission: Admission;
  readonly children: ReactNode;
}) {
  const [state, setState] = useState<State>({
    ...{ kind: "checking", authorization: undefined, trouble: "" },
  });
  const [provider, setProvider] = useState<string>();
  const queries = useMemo(() => {
    // The page keeps its typed text below the form for new credentials.
    const expire = (): void =>
      setState((last) => (last.kind === "in" ? { ...last, isExpired: true } : last));
    return queriesOf(expire);
  }, []);
  useEffect(() => moving(state, admission, setState, setProvider), [state, admission]);

  switch (state.kind) {
    case "out":
      return (
        <SignIn
          fields={admission.fields}
          provider={provider}
          trouble={state.trouble || refusalIn(location.search)}
          onGiven={(values) =>
            setState({
              kind: "checking",
              authorization: admission.authorizationOf(values),
              trouble: "",
            })
          }
        />
      );
    case "checking":
    case "waiting":
      return <Waiting what="Signing in…" trouble={state.trouble} />;
    case "leaving":
      return <Waiting what="Signing out…" trouble={state.trouble} />;
    case "in": {
      const { session, admitted, isExpired } = state;
      const signOut = (): void => {
        queries.clear();
        setState({ kind: "leaving", session, trouble: "" });
      };
      const enterAgain = async (authorization?: string): Promise<boolean> => {
        const entered = await entering(admission, authorization, setProvider);
        if (!entered) return false;
        setState({ kind: "in", isExpired: false, ...entered });
        // The new session may be another tenant's, so no earlier answer is shown again.
        void queries.resetQueries();
        return true;
      };
      return (
        <SessionContext value={{ session, ...admitted, isExpired, signOut }}>
          <QueryClientProvider client={queries}>
            {children}
            {isExpired && (
              <SignInAgain
                fields={admission.fields}
                provider={provider}
                check={(values) => enterAgain(admission.authorizationOf(values))}
                look={() => enterAgain()}
                leave={signOut}
              />
            )}
          </QueryClientProvider>
        </SessionContext>
      );
    }
  }
}

async function entering(
  admission: Admission,
  authorization: string | undefined,
  tell: (provider: string | undefined) => void,
): Promise<Entered | undefined> {
  // A server of an older build reports no role: its operators are all admins.
  const { provider, role = "admin", session } = await enter(authorization);
  if (authorization === undefined) tell(provider);
  return session === undefined
    ? undefined
    : { session, admitted: await admission.admit(session, role) };
}

/** Continues from a state that is under way. Returns a function that cancels this. */
function moving(
  state: State,
  admission: Admission,
  set: (next: State) => void,
  tell: (provider: string | undefined) => void,
): () => void {
  switch (state.kind) {
    case "out":
    case "in":
      return () => undefined;
    case "waiting": {
      const timer = setTimeout(() => set({ ...state, kind: "checking" }), againMs);
      return () => clearTimeout(timer);
    }
    case "checking":
      return settling(
        entering(admission, state.authorization, tell),
        (entered) =>
          set(
            entered ? { kind: "in", isExpired: false, ...entered } : { kind: "out", trouble: "" },
          ),
        (reason) => {
          const trouble = wordsOf(reason);
          set(isAway(reason) ? { ...state, kind: "waiting", trouble } : { kind: "out", trouble });
        },
      );
    case "leaving":
      return settling(
        leave(state.session),
        () => set({ kind: "out", trouble: "" }),
        (reason) => {
          const trouble = wordsOf(reason);
          // The session exists until the server has ended it.
          setTimeout(() => set({ ...state, trouble }), againMs);
        },
      );
  }
}

function settling<T>(
  work: Promise<T>,
  done: (value: T) => void,
  failed: (reason: unknown) => void,
): () => void {
  let isCalledOff = false;
  void work.then(
    (value) => {
      if (!isCalledOff) done(value);
    },
    (reason: unknown) => {
      if (!isCalledOff) failed(reason);
    },
  );
  return () => {
    isCalledOff = true;
  };
}

const refusals: Readonly<Record<string, string>> = {
  refused: "The provider refused the sign-in. Try again.",
  away: "The provider does not answer. Try again later.",
  "no-group": "None of your groups may sign in here. Ask the operator.",
};
const refusalIn = (search: string): string =>
  refusals[new URLSearchParams(search).get("sign-in") ?? ""] ?? "";

const isAway = (reason: unknown): boolean => reason instanceof Refused && isPassing(reason);

function queriesOf(onUnknown: () => void): QueryClient {
  const onError = (error: unknown): void => {
    if (error instanceof Refused && error.status === 401) onUnknown();
  };
  return new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
  });
}

function Waiting({ what, trouble }: { readonly what: string; readonly trouble: string }) {
  return (
    <main className="gate">
      <h1>Posthaste</h1>
      <p role="status">{trouble === "" ? what : `${trouble} Retrying…`}</p>
    </main>
  );
}
