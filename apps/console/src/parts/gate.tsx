/**
 * Nothing is shown before the server has taken the credentials. They are kept for this tab, once they were taken; what passes
 * by, such as a server that restarts, signs out of nothing.
 */
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { type ReactNode, useEffect, useMemo, useState } from "react";
import { isPassing } from "../api/asked.ts";
import { Refused } from "../api/call.ts";
import { type Admitted, SessionContext } from "../api/session.ts";
import { wordsOf } from "../api/text.ts";
import { SignIn, SignInAgain, type SignInField } from "./sign-in.tsx";

export type Door = {
  readonly fields: readonly SignInField[];
  /** The header of these fields. */
  readonly authorizationOf: (values: readonly string[]) => string;
  readonly check: (authorization: string) => Promise<Admitted>;
  /** Where the tab keeps the header; undefined: nowhere, and a page that is loaded again asks again. */
  readonly storageKey?: string;
};

type State =
  | { readonly kind: "out"; readonly trouble?: string }
  | {
      readonly kind: "checking" | "waiting";
      readonly authorization: string;
      readonly trouble: string;
    }
  | {
      readonly kind: "in";
      readonly authorization: string;
      readonly admitted: Admitted;
      readonly isExpired: boolean;
    };

const againMs = 2_000;

export function Gate({ door, children }: { readonly door: Door; readonly children: ReactNode }) {
  const [state, setState] = useState<State>(() => initial(door));
  const [signOut, queries] = useMemo(() => {
    const out = (trouble = ""): void => {
      forget(door);
      setState({ kind: "out", trouble });
    };
    // The page keeps its typed text: the form for other credentials comes above it.
    const expire = (): void =>
      setState((last) => (last.kind === "in" ? { ...last, isExpired: true } : last));
    return [out, queriesOf(expire)];
  }, [door]);
  useEffect(() => entering(state, door, setState), [state, door]);

  switch (state.kind) {
    case "out":
      return (
        <SignIn
          fields={door.fields}
          trouble={state.trouble}
          onGiven={(values) =>
            setState({ kind: "checking", authorization: door.authorizationOf(values), trouble: "" })
          }
        />
      );
    case "checking":
    case "waiting":
      return <Waiting trouble={state.trouble} leave={() => signOut()} />;
    case "in": {
      const { authorization, admitted, isExpired } = state;
      const leave = (): void => {
        queries.clear();
        signOut();
      };
      return (
        <SessionContext value={{ authorization, ...admitted, isExpired, signOut: leave }}>
          <QueryClientProvider client={queries}>
            {children}
            {isExpired && (
              <SignInAgain
                fields={door.fields}
                check={async (values) => {
                  const next = door.authorizationOf(values);
                  enter(door, next, await door.check(next), setState);
                  // The new token may be another tenant's: nothing of before is shown again.
                  void queries.resetQueries();
                }}
                leave={leave}
              />
            )}
          </QueryClientProvider>
        </SessionContext>
      );
    }
  }
}

function enter(
  { storageKey }: Door,
  authorization: string,
  admitted: Admitted,
  set: (next: State) => void,
): void {
  if (storageKey !== undefined) sessionStorage.setItem(storageKey, authorization);
  set({ kind: "in", authorization, admitted, isExpired: false });
}

function initial({ storageKey }: Door): State {
  const authorization = storageKey === undefined ? null : sessionStorage.getItem(storageKey);
  return authorization === null
    ? { kind: "out" }
    : { kind: "checking", authorization, trouble: "" };
}

function forget({ storageKey }: Door): void {
  if (storageKey !== undefined) sessionStorage.removeItem(storageKey);
}

/** Answers how to call it off. */
function entering(state: State, door: Door, set: (next: State) => void): () => void {
  if (state.kind !== "checking" && state.kind !== "waiting") return () => undefined;
  const { authorization } = state;
  if (state.kind === "waiting") {
    const timer = setTimeout(() => set({ ...state, kind: "checking" }), againMs);
    return () => clearTimeout(timer);
  }
  let isCalledOff = false;
  void door.check(authorization).then(
    (admitted) => {
      if (isCalledOff) return;
      enter(door, authorization, admitted, set);
    },
    (reason: unknown) => {
      if (isCalledOff) return;
      const trouble = wordsOf(reason);
      if (reason instanceof Refused && isPassing(reason))
        return set({ kind: "waiting", authorization, trouble });
      forget(door);
      set({ kind: "out", trouble });
    },
  );
  return () => {
    isCalledOff = true;
  };
}

function queriesOf(onUnknown: () => void): QueryClient {
  const onError = (error: unknown): void => {
    if (error instanceof Refused && error.status === 401) onUnknown();
  };
  return new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
  });
}

function Waiting({ trouble, leave }: { readonly trouble: string; readonly leave: () => void }) {
  return (
    <main className="gate">
      <h1>Posthaste</h1>
      <p role="status">{trouble === "" ? "Signing in…" : `${trouble} Trying again…`}</p>
      {trouble !== "" && (
        <button type="button" onClick={leave}>
          Sign out
        </button>
      )}
    </main>
  );
}
