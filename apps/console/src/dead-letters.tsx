/** Dead letters, and all that a filter takes tried again: first how many these are, then the work with its progress. */
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type DeadLetter, type FailedRun } from "@posthaste/client/api";
import { call, type QueryOf, Refused, textOf, timeOf } from "./api.ts";
import { queryIn, useFilters } from "./address.ts";
import { MessageLink } from "./messages.tsx";
import { Action, type Column, Filters, More, Table, Trouble } from "./table.tsx";
import { useAsked, useSession } from "./session.tsx";

const filterNames = [
  "messageId",
  "url",
  "label",
  "topicName",
  "scheduleId",
  "queueName",
  "flowControlKey",
  "callerIp",
  "responseStatus",
  "fromDate",
  "toDate",
] as const satisfies readonly (keyof QueryOf<"listDeadLetters">)[];
const cellCharsMax = 200;

export function DeadLetters() {
  const { mayWrite } = useSession();
  const [filters] = useFilters();
  const query = queryIn(filters, filterNames);
  const { data, error } = useAsked({ id: "listDeadLetters", query }, query.cursor === undefined);
  const columns: readonly Column<DeadLetter>[] = [
    ["Published (UTC)", ({ createdAt }) => timeOf(createdAt)],
    ["Message", ({ messageId }) => <MessageLink id={messageId} />],
    ["To", ({ url }) => textOf(url, cellCharsMax)],
    ["Label", ({ label }) => textOf(label, cellCharsMax)],
    ["Status", ({ responseStatus }) => textOf(responseStatus)],
    ["Answer", ({ responseBody }) => textOf(responseBody, cellCharsMax)],
  ];
  const actions: Column<DeadLetter> = [
    "Actions",
    ({ dlqId }) => (
      <>
        <Action name="Retry" asked={{ id: "retryDeadLetter", params: [dlqId] }} />
        <Action name="Remove" asked={{ id: "removeDeadLetter", params: [dlqId] }} />
      </>
    ),
  ];
  return (
    <>
      <h1>Dead letters</h1>
      <Filters names={filterNames} />
      <Trouble error={error} />
      {mayWrite && <RetryAll key={filters.toString()} filters={filters} />}
      <Table
        caption="Dead letters, newest first"
        columns={mayWrite ? [...columns, actions] : columns}
        rows={(data?.messages ?? []).filter(isOfMessage)}
      />
      <More cursor={data?.cursor} />
    </>
  );
}

const isOfMessage = (letter: DeadLetter | FailedRun): letter is DeadLetter => "messageId" in letter;

type Progress = { readonly matched: number; readonly done: number; readonly isRunning: boolean };

function RetryAll({ filters }: { readonly filters: URLSearchParams }) {
  const { token } = useSession();
  const queries = useQueryClient();
  const [progress, setProgress] = useState<Progress>();
  const [error, setError] = useState<Refused | null>(null);
  const post = (more: { readonly dryRun?: true; readonly cursor?: string }) => {
    const { cursor: _, ...query } = queryIn(filters, filterNames);
    return call(token, { id: "retryDeadLetters", query: { ...query, ...more } });
  };
  const preview = async () => {
    const answered = await post({ dryRun: true });
    const matched = "matched" in answered ? answered.matched : 0;
    setProgress({ matched, done: 0, isRunning: false });
  };
  const run = async (matched: number) => {
    let cursor = "";
    let done = 0;
    // What fails again meanwhile is a dead letter once more: no more are taken than the preview has promised.
    do {
      setProgress({ matched, done, isRunning: true });
      const answered = await post(cursor === "" ? {} : { cursor });
      const { responses = [], cursor: next = "" } = "responses" in answered ? answered : {};
      done += responses.length;
      cursor = responses.length === 0 ? "" : next;
    } while (cursor !== "" && done < matched);
    setProgress({ matched, done, isRunning: false });
    await queries.invalidateQueries();
  };
  const begin = (work: Promise<void>) => {
    setError(null);
    work.catch((reason: unknown) =>
      setError(reason instanceof Refused ? reason : new Refused(0, String(reason))),
    );
  };
  return (
    <section aria-label="Retry all">
      <button type="button" onClick={() => begin(preview())}>
        Retry all of these…
      </button>
      <div role="status">
        {progress !== undefined && progress.done === 0 && !progress.isRunning && (
          <p>
            {progress.matched} dead letters would be retried.{" "}
            {progress.matched > 0 && (
              <button type="button" onClick={() => begin(run(progress.matched))}>
                Retry {progress.matched}
              </button>
            )}
          </p>
        )}
        {progress !== undefined && (progress.done > 0 || progress.isRunning) && (
          <p>
            <progress aria-label="Retried" value={progress.done} max={progress.matched} />{" "}
            {progress.done} of {progress.matched} retried
          </p>
        )}
      </div>
      <Trouble error={error} />
    </section>
  );
}
