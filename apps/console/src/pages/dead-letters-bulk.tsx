/** All that a filter takes: found and shown, confirmed, done call by call. Leaving the page ends it between two calls. */
import { type DeadLetter } from "@posthaste/client/api";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { call, Refused } from "../api/call.ts";
import { useSession } from "../api/session.ts";
import { shown, wordsOf } from "../api/text.ts";
import { Undone } from "../parts/trouble.tsx";
import { perCallMax, takeAll, walk } from "../rules/bulk.ts";
import { groupsOf, isAt, lettersIn } from "../rules/letters.ts";

type Filters = Readonly<Record<string, string>>;
type Verb = "retry" | "remove";

const past = { retry: "retried", remove: "removed" } as const satisfies Readonly<
  Record<Verb, string>
>;

type Progress =
  | { readonly kind: "idle" }
  | {
      readonly kind: "finding";
      readonly verb: Verb;
      readonly found: number;
      readonly looked: number;
    }
  | { readonly kind: "found"; readonly verb: Verb; readonly letters: readonly DeadLetter[] }
  | {
      readonly kind: "taking" | "taken";
      readonly verb: Verb;
      readonly matched: number;
      readonly done: number;
    };

/** A hundred thousand letters; the next time, the rest. */
const pagesMax = 1_000;

type Props = {
  readonly filters: Filters;
  readonly host: string | undefined;
  /** There is nothing to begin with; what was begun stays told. */
  readonly isEmpty: boolean;
};

export function BulkOfLetters({ filters, host, isEmpty }: Props) {
  const { session } = useSession();
  const queries = useQueryClient();
  const [progress, setProgress] = useState<Progress>({ kind: "idle" });
  const [error, setError] = useState<Refused | null>(null);
  const leaving = useRef(new AbortController());
  useEffect(() => {
    leaving.current = new AbortController();
    return () => leaving.current.abort();
  }, []);

  const begin = async (work: (signal: AbortSignal) => Promise<Progress>): Promise<void> => {
    const { signal } = leaving.current;
    setError(null);
    try {
      setProgress(await work(signal));
    } catch (reason) {
      if (signal.aborted) return;
      setError(reason instanceof Refused ? reason : new Refused(0, wordsOf(reason)));
      // The count of letters done stays; the rest is found anew before it is done.
      setProgress((last) =>
        last.kind === "taking" ? { ...last, kind: "taken" } : { kind: "idle" },
      );
    }
    await queries.invalidateQueries();
  };

  const find = (verb: Verb): Promise<void> =>
    begin(async (signal) => {
      setProgress({ kind: "finding", verb, found: 0, looked: 0 });
      const { found: letters } = await walk(
        async (cursor) => {
          const query = { ...filters, count: perCallMax, trimBody: 0, order: "latestFirst" };
          const paged = { ...query, ...(cursor !== undefined && { cursor }) };
          const page = await call(session, { id: "listDeadLetters", query: paged }, signal);
          return { items: lettersIn(page) ?? [], cursor: page.cursor };
        },
        ({ url }) => isAt(host, url),
        { pages: pagesMax, found: Infinity },
        {
          told: ({ found, looked }) =>
            setProgress({ kind: "finding", verb, found: found.length, looked }),
        },
      );
      return { kind: "found", verb, letters };
    });

  const take = (verb: Verb, letters: readonly DeadLetter[]): Promise<void> =>
    begin(async (signal) => {
      const matched = letters.length;
      setProgress({ kind: "taking", verb, matched, done: 0 });
      const done = await takeAll(
        letters.map(({ dlqId }) => dlqId),
        (ids) => taken(session, verb, ids, signal),
        (sum) => setProgress({ kind: "taking", verb, matched, done: sum }),
      );
      return { kind: "taken", verb, matched, done };
    });

  if (isEmpty && progress.kind === "idle") return null;
  const isBusy = progress.kind === "finding" || progress.kind === "taking";
  return (
    <section aria-label="All of these" className="stack">
      <div className="buttons">
        <button type="button" disabled={isBusy} onClick={() => void find("retry")}>
          Retry all of these…
        </button>
        <button
          type="button"
          className="danger"
          disabled={isBusy}
          onClick={() => void find("remove")}
        >
          Remove all of these…
        </button>
      </div>
      {progress.kind !== "idle" && (
        <div role="status" className="notice">
          <Told progress={progress} take={take} leave={() => setProgress({ kind: "idle" })} />
        </div>
      )}
      <Undone error={error} />
    </section>
  );
}

type ToldProps = {
  readonly progress: Progress;
  readonly take: (verb: Verb, letters: readonly DeadLetter[]) => Promise<void>;
  readonly leave: () => void;
};

const groupsMax = 5;

function Told({ progress, take, leave }: ToldProps) {
  switch (progress.kind) {
    case "idle":
      return null;
    case "finding":
      return (
        <>
          Counting… {progress.found} of {progress.looked} looked at
        </>
      );
    case "found": {
      const { verb, letters } = progress;
      if (letters.length === 0) return <>There are none.</>;
      const groups = groupsOf(letters);
      return (
        <>
          <span className="why">
            {letters.length} dead {letters.length === 1 ? "letter" : "letters"} would be{" "}
            {past[verb]}
          </span>
          <ul>
            {groups.slice(0, groupsMax).map(({ place, reason, count }) => (
              <li key={`${place} ${reason}`}>
                {count} × <span className="mono">{shown(place, 80)}</span>: {shown(reason, 80)}
              </li>
            ))}
            {groups.length > groupsMax && (
              <li className="muted">and {groups.length - groupsMax} more kinds</li>
            )}
          </ul>
          <div className="buttons">
            <button
              type="button"
              className={verb === "retry" ? "primary" : "danger primary"}
              onClick={() => void take(verb, letters)}
            >
              {verb === "retry" ? "Retry" : "Remove"} {letters.length}
            </button>
            <button type="button" onClick={leave}>
              Leave them
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
          <progress aria-label={past[verb]} value={done} max={matched} />
          <span>
            {done} of {matched} {past[verb]}
            {progress.kind === "taken" &&
              done < matched &&
              ", the rest was not there any more or is as it was"}
          </span>
        </>
      );
    }
  }
}

async function taken(
  session: string,
  verb: Verb,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<number> {
  const body = { dlqIds: [...ids] };
  const answer =
    verb === "retry"
      ? await call(session, { id: "retryDeadLetters", body }, signal)
      : await call(session, { id: "removeDeadLetters", body }, signal);
  if ("responses" in answer) return answer.responses.length;
  if ("deleted" in answer) return answer.deleted;
  throw new Refused(0, "The server did not say how many there were.");
}
