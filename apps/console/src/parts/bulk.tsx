/** Acts on everything that a filter matches: found and shown, confirmed, done call by call. Leaving the page ends it between two calls. */
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { Refused } from "../api/call.ts";
import { useSession } from "../api/session.ts";
import { counted, shown, wordsOf } from "../api/text.ts";
import { type GroupOfThings, takeAll, type Walk } from "../rules/bulk.ts";
import { Undone } from "./trouble.tsx";

export type Verb = {
  readonly does: string;
  readonly past: string;
  /** The action cannot be undone. */
  readonly isFinal?: boolean;
  /** The consequence, shown before the action. */
  readonly says?: string;
  readonly perCallMax: number;
  /** Returns the number of things that existed and are done. */
  readonly take: (session: string, ids: readonly string[], signal: AbortSignal) => Promise<number>;
};

type Finding<T> = (
  session: string,
  told: (walk: Walk<T>) => void,
  signal: AbortSignal,
) => Promise<Walk<T>>;

type Props<T> = {
  readonly verbs: readonly Verb[];
  readonly thing: string;
  readonly find: Finding<T>;
  readonly idOf: (found: T) => string;
  readonly groupsOf: (found: readonly T[]) => readonly GroupOfThings[];
  /** Nothing matches. The result of an earlier action stays. */
  readonly isEmpty: boolean;
};

type Progress<T> =
  | { readonly kind: "idle" }
  | {
      readonly kind: "finding";
      readonly found: number;
      readonly looked: number;
    }
  | { readonly kind: "found"; readonly verb: Verb; readonly found: readonly T[] }
  | {
      readonly kind: "taking" | "taken";
      readonly verb: Verb;
      readonly matched: number;
      readonly done: number;
    };

export function Bulk<T>({ verbs, thing, find, idOf, groupsOf, isEmpty }: Props<T>) {
  const { session } = useSession();
  const queries = useQueryClient();
  const [progress, setProgress] = useState<Progress<T>>({ kind: "idle" });
  const [error, setError] = useState<Refused | null>(null);
  const leaving = useRef(new AbortController());
  useEffect(() => {
    leaving.current = new AbortController();
    return () => leaving.current.abort();
  }, []);

  const begin = async (work: (signal: AbortSignal) => Promise<Progress<T>>): Promise<void> => {
    const { signal } = leaving.current;
    setError(null);
    try {
      setProgress(await work(signal));
    } catch (reason) {
      if (signal.aborted) return;
      setError(reason instanceof Refused ? reason : new Refused(0, wordsOf(reason)));
      // Keeps the count of things done. The rest is found anew before it is done.
      setProgress((last) =>
        last.kind === "taking" ? { ...last, kind: "taken" } : { kind: "idle" },
      );
    }
    await queries.invalidateQueries();
  };

  const look = (verb: Verb): Promise<void> =>
    begin(async (signal) => {
      setProgress({ kind: "finding", found: 0, looked: 0 });
      const told = ({ found, looked }: Walk<T>): void =>
        setProgress({ kind: "finding", found: found.length, looked });
      const { found } = await find(session, told, signal);
      return { kind: "found", verb, found };
    });

  const take = (verb: Verb, found: readonly T[]): Promise<void> =>
    begin(async (signal) => {
      const matched = found.length;
      setProgress({ kind: "taking", verb, matched, done: 0 });
      const done = await takeAll(
        found.map(idOf),
        verb.perCallMax,
        (ids) => {
          signal.throwIfAborted();
          return verb.take(session, ids, signal);
        },
        (sum) => setProgress({ kind: "taking", verb, matched, done: sum }),
      );
      return { kind: "taken", verb, matched, done };
    });

  if (isEmpty && progress.kind === "idle") return null;
  const isBusy = progress.kind === "finding" || progress.kind === "taking";
  return (
    <section aria-label="All of these" className="stack">
      <div className="buttons">
        {verbs.map((verb) => (
          <button
            key={verb.does}
            type="button"
            className={verb.isFinal ? "danger" : undefined}
            disabled={isBusy}
            onClick={() => void look(verb)}
          >
            {verb.does} all of these…
          </button>
        ))}
      </div>
      {progress.kind !== "idle" && (
        <div role="status" className="notice">
          <Told
            progress={progress}
            thing={thing}
            groupsOf={groupsOf}
            take={take}
            leave={() => setProgress({ kind: "idle" })}
          />
        </div>
      )}
      <Undone error={error} />
    </section>
  );
}

type ToldProps<T> = Pick<Props<T>, "groupsOf" | "thing"> & {
  readonly progress: Exclude<Progress<T>, { readonly kind: "idle" }>;
  readonly take: (verb: Verb, found: readonly T[]) => Promise<void>;
  readonly leave: () => void;
};

const groupsMax = 5;

function Told<T>({ progress, thing, groupsOf, take, leave }: ToldProps<T>) {
  switch (progress.kind) {
    case "finding":
      return (
        <>
          Counting… {progress.found} of {progress.looked} match
        </>
      );
    case "found": {
      const { verb, found } = progress;
      if (found.length === 0) return <>Nothing matches.</>;
      const groups = groupsOf(found);
      return (
        <>
          <span className="why">
            {counted(found.length, thing)} would be {verb.past}
          </span>
          <ul>
            {groups.slice(0, groupsMax).map(({ place, reason, count }) => (
              <li key={`${place} ${reason}`}>
                {count} × <span className="mono">{shown(place, 80)}</span>
                {reason !== undefined && `: ${shown(reason, 80)}`}
              </li>
            ))}
            {groups.length > groupsMax && (
              <li className="muted">and {groups.length - groupsMax} more groups</li>
            )}
          </ul>
          {verb.says !== undefined && <span className="muted">{verb.says}</span>}
          <div className="buttons">
            <button
              type="button"
              className={verb.isFinal ? "danger primary" : "primary"}
              onClick={() => void take(verb, found)}
            >
              {verb.does} {found.length}
            </button>
            <button type="button" onClick={leave}>
              Not now
            </button>
          </div>
        </>
      );
    }
    case "taking":
    case "taken": {
      const { done, matched, verb } = progress;
      return (
        <>
          <progress aria-label={verb.past} value={done} max={matched} />
          <span>
            {done} of {matched} {verb.past}
            {progress.kind === "taken" &&
              done < matched &&
              ", the others were removed or are unchanged"}
          </span>
        </>
      );
    }
  }
}
