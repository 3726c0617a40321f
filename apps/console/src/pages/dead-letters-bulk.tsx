/** All that a filter takes: counted, confirmed, done call by call. Leaving the page ends it between two calls. */
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { call, Refused } from "../api/call.ts";
import { useSession } from "../api/session.ts";
import { wordsOf } from "../api/text.ts";
import { Trouble } from "../parts/trouble.tsx";
import { countAll, perCallMax, takeAll } from "../rules/bulk.ts";

type Filters = Readonly<Record<string, string>>;
type Verb = "retry" | "remove";

const past = { retry: "retried", remove: "removed" } as const satisfies Readonly<
  Record<Verb, string>
>;

type Progress =
  | { readonly kind: "idle" }
  | { readonly kind: "counting"; readonly verb: Verb; readonly matched: number }
  | { readonly kind: "counted"; readonly verb: Verb; readonly matched: number }
  | {
      readonly kind: "taking" | "taken";
      readonly verb: Verb;
      readonly matched: number;
      readonly done: number;
    };

export function BulkOfLetters({
  filters: { cursor: _, ...filters },
}: {
  readonly filters: Filters;
}) {
  const { authorization } = useSession();
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
      // What was done stays told; the rest is counted anew before it is done.
      setProgress((last) =>
        last.kind === "taking" ? { ...last, kind: "taken" } : { kind: "idle" },
      );
    }
    await queries.invalidateQueries();
  };

  const count = (verb: Verb): Promise<void> =>
    begin(async (signal) => {
      setProgress({ kind: "counting", verb, matched: 0 });
      const matched = await countAll(
        (cursor) => dryRun(authorization, verb, pageOf(filters, perCallMax, cursor), signal),
        (sum) => setProgress({ kind: "counting", verb, matched: sum }),
      );
      return { kind: "counted", verb, matched };
    });

  const take = (verb: Verb, matched: number): Promise<void> =>
    begin(async (signal) => {
      setProgress({ kind: "taking", verb, matched, done: 0 });
      const done = await takeAll(
        matched,
        (most, cursor) => taken(authorization, verb, pageOf(filters, most, cursor), signal),
        (sum) => setProgress({ kind: "taking", verb, matched, done: sum }),
      );
      return { kind: "taken", verb, matched, done };
    });

  const isBusy = progress.kind === "counting" || progress.kind === "taking";
  return (
    <section aria-label="All of these" className="bulk">
      <button type="button" disabled={isBusy} onClick={() => void count("retry")}>
        Retry all of these…
      </button>{" "}
      <button type="button" disabled={isBusy} onClick={() => void count("remove")}>
        Remove all of these…
      </button>{" "}
      <span role="status">
        <Told progress={progress} take={take} leave={() => setProgress({ kind: "idle" })} />
      </span>
      <Trouble error={error} />
    </section>
  );
}

type ToldProps = {
  readonly progress: Progress;
  readonly take: (verb: Verb, matched: number) => Promise<void>;
  readonly leave: () => void;
};

function Told({ progress, take, leave }: ToldProps) {
  switch (progress.kind) {
    case "idle":
      return null;
    case "counting":
      return <>Counting… {progress.matched}</>;
    case "counted": {
      const { verb, matched } = progress;
      if (matched === 0) return <>There are none.</>;
      const name = `${verb === "retry" ? "Retry" : "Remove"} ${matched}`;
      return (
        <>
          {matched} dead {matched === 1 ? "letter" : "letters"} would be {past[verb]}.
          <button
            type="button"
            className={verb === "retry" ? "primary" : "danger"}
            onClick={() => void take(verb, matched)}
          >
            {name}
          </button>
          <button type="button" onClick={leave}>
            Leave them
          </button>
        </>
      );
    }
    case "taking":
    case "taken": {
      const { done, matched, verb } = progress;
      return (
        <>
          <progress aria-label={past[verb]} value={done} max={matched} /> {done} of {matched}{" "}
          {past[verb]}
          {progress.kind === "taken" &&
            done < matched &&
            ", the rest was not there any more or is as it was"}
        </>
      );
    }
  }
}

type Page = ReturnType<typeof pageOf>;

const pageOf = (filters: Filters, count: number, cursor: string | undefined) => ({
  ...filters,
  count,
  ...(cursor !== undefined && { cursor }),
});

async function dryRun(authorization: string, verb: Verb, page: Page, signal: AbortSignal) {
  const query = { ...page, dryRun: true };
  const id = verb === "retry" ? "retryDeadLetters" : "removeDeadLetters";
  const answer = await call(authorization, { id, query }, signal);
  if (!("matched" in answer)) throw new Refused(0, "The server did not say how many there are.");
  return { matched: answer.matched, cursor: answer.cursor };
}

async function taken(authorization: string, verb: Verb, query: Page, signal: AbortSignal) {
  const answer =
    verb === "retry"
      ? await call(authorization, { id: "retryDeadLetters", query }, signal)
      : await call(authorization, { id: "removeDeadLetters", query }, signal);
  if ("responses" in answer) return { done: answer.responses.length, cursor: answer.cursor };
  if ("deleted" in answer) return { done: answer.deleted, cursor: answer.cursor };
  throw new Refused(0, "The server did not say how many there were.");
}
