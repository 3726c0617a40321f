/** One dead letter: what was sent, what the destination said last, and whether to try again. */
import { type DeadLetter } from "@posthaste/client/api";
import { useState } from "react";
import { part, useLastPart } from "../address.ts";
import { useAsked } from "../api/asked.ts";
import { shown } from "../api/text.ts";
import { Action } from "../parts/action.tsx";
import { Body, ofText } from "../parts/body.tsx";
import { Facts, HeaderList } from "../parts/facts.tsx";
import { Page } from "../parts/page.tsx";
import { Id, MessageId, timeOf } from "../parts/text.tsx";
import { Trouble } from "../parts/trouble.tsx";
import { failedAt, lettersIn, statusOf } from "./dead-letters.tsx";

const trimmedBytesMax = 16_384;

export function DeadLetterPage() {
  const id = useLastPart();
  const [isAll, setAll] = useState(false);
  const query = { dlqIds: id, count: 1, ...(!isAll && { trimBody: trimmedBytesMax }) };
  const { data, error } = useAsked({ id: "listDeadLetters", query });
  const [letter] = lettersIn(data) ?? [];
  const bytesMax = isAll ? Infinity : trimmedBytesMax;
  return (
    <Page
      title={`Dead letter ${shown(id)}`}
      actions={
        letter && (
          <>
            <Action
              does="Retry"
              to={id}
              asked={{ id: "retryDeadLetter", params: [id] }}
              leaveTo={({ messageId }) => `/messages/${part(messageId)}`}
            />
            <Action
              does="Remove"
              to={id}
              asked={{ id: "removeDeadLetter", params: [id] }}
              isFinal
              leaveTo={() => "/dead-letters"}
            />
          </>
        )
      }
    >
      <Trouble error={error} isStale={data !== undefined} />
      {data !== undefined && letter === undefined && (
        <p>There is no such dead letter: it was retried or removed, or is no longer kept.</p>
      )}
      {letter !== undefined && (
        <Letter letter={letter} bytesMax={bytesMax} more={() => setAll(true)} />
      )}
    </Page>
  );
}

type LetterProps = {
  readonly letter: DeadLetter;
  readonly bytesMax: number;
  readonly more: () => void;
};

function Letter({ letter, bytesMax, more }: LetterProps) {
  const { topicName, scheduleId } = letter;
  const answer = ofText(letter.responseBody, letter.responseBodyBase64, bytesMax);
  return (
    <>
      <Facts
        facts={[
          ["Failed", timeOf(failedAt(letter.dlqId))],
          ["Message", <MessageId id={letter.messageId} />],
          [
            "To",
            <span className="mono">{`${shown(letter.method)} ${shown(letter.url, 2_000)}`}</span>,
          ],
          ["Accepted", timeOf(letter.createdAt)],
          ["Labels", shown(letter.labels?.join(", "))],
          ["Queue", shown(letter.queueName)],
          ["Group", topicName !== undefined && <Id to="/groups" id={topicName} />],
          ["Schedule", scheduleId !== undefined && <Id to="/schedules" id={scheduleId} />],
          ["Flow key", shown(letter.flowControlKey)],
          ["Caller's address", shown(letter.callerIP)],
        ]}
      />
      <div className="columns">
        <section>
          <h2>Last answer</h2>
          <p>Status {statusOf(letter.responseStatus)}</p>
          {letter.error !== undefined && <p className="trouble">{shown(letter.error, 2_000)}</p>}
          <Body title="Body of the answer" body={answer} more={more} />
          <h3 className="muted">Headers</h3>
          <HeaderList headers={letter.responseHeader} />
        </section>
        <section>
          <h2>Request</h2>
          <Body
            title="Body of the request"
            body={ofText(letter.body, letter.bodyBase64, bytesMax)}
            more={more}
          />
          <h3 className="muted">Headers</h3>
          <HeaderList headers={letter.header} />
        </section>
      </div>
    </>
  );
}
