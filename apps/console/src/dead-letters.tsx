/** Dead letters, and all that a filter takes tried again: first how many these are, then the work with its progress. */
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call, Refused, rowOf, rowsOf, textOf, timeOf } from "./api.ts";
import { useFilters } from "./address.ts";
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
];
const cellCharsMax = 200;

export function DeadLetters() {
  const { mayWrite } = useSession();
  const [filters] = useFilters();
  const { data, error } = useAsked(`v2/dlq?${filters.toString()}`, !filters.has("cursor"));
  const columns: readonly Column[] = [
    ["Published (UTC)", ({ createdAt }) => timeOf(createdAt)],
    ["Message", ({ messageId }) => <MessageLink id={messageId} />],
    ["To", ({ url }) => textOf(url, cellCharsMax)],
    ["Label", ({ label }) => textOf(label, cellCharsMax)],
    ["Status", ({ responseStatus }) => textOf(responseStatus)],
    ["Answer", ({ responseBody }) => textOf(responseBody, cellCharsMax)],
  ];
  const actions: Column = [
    "Actions",
    ({ dlqId }) => {
      const id = encodeURIComponent(textOf(dlqId));
      return (
        <>
          <Action name="Retry" method="POST" path={`v2/dlq/retry/${id}`} />
          <Action name="Remove" method="DELETE" path={`v2/dlq/${id}`} />
        </>
      );
    },
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
        rows={rowsOf(data, "messages")}
      />
      <More cursor={rowOf(data)["cursor"]} />
    </>
  );
}

type Progress = { readonly matched: number; readonly done: number; readonly isRunning: boolean };

function RetryAll({ filters }: { readonly filters: URLSearchParams }) {
  const { token } = useSession();
  const queries = useQueryClient();
  const [progress, setProgress] = useState<Progress>();
  const [error, setError] = useState<Refused | null>(null);
  const post = async (more: Readonly<Record<string, string>>) => {
    const query = new URLSearchParams(filters);
    query.delete("cursor");
    for (const [name, value] of Object.entries(more)) query.set(name, value);
    return rowOf(await call(token, "POST", `v2/dlq/retry?${query.toString()}`));
  };
  const preview = async () => {
    const { matched } = await post({ dryRun: "true" });
    setProgress({ matched: Number(matched), done: 0, isRunning: false });
  };
  const run = async (matched: number) => {
    let cursor = "";
    let done = 0;
    // What fails again meanwhile is a dead letter once more: no more are taken than the preview has promised.
    do {
      setProgress({ matched, done, isRunning: true });
      const answered = await post(cursor === "" ? {} : { cursor });
      const retried = rowsOf(answered, "responses").length;
      done += retried;
      cursor = retried === 0 ? "" : textOf(answered["cursor"]);
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
