import { type DeadLetter } from "@posthaste/client/api";
import { useState } from "react";
import { part, useLastPart } from "../address.ts";
import { useAsked, useWork } from "../api/asked.ts";
import { apiBase } from "../api/call.ts";
import { failureOf } from "../api/past-letter.ts";
import { useSession } from "../api/session.ts";
import { durationOf, shown } from "../api/text.ts";
import { Action } from "../parts/action.tsx";
import { Body, ofText } from "../parts/body.tsx";
import { CopyButton } from "../parts/copy.tsx";
import { Facts, HeaderList } from "../parts/facts.tsx";
import { Inside, Page, Panel } from "../parts/page.tsx";
import { Filtered, Id, Labels, MessageId, timeOf } from "../parts/text.tsx";
import { Trouble } from "../parts/trouble.tsx";
import { failedAt, lettersIn } from "../rules/letters.ts";
import { againAsCurl, publicationOf } from "../rules/publication.ts";
import { Reason } from "./reason.tsx";
import { Retried } from "./retried.tsx";

const trimmedBytesMax = 16_384;

export function DeadLetterPage() {
  const id = useLastPart();
  const { mayWrite } = useSession();
  const [isAll, setAll] = useState(false);
  const query = { dlqIds: id, count: 1, ...(!isAll && { trimBody: trimmedBytesMax }) };
  const { data, error } = useAsked({ id: "listDeadLetters", query });
  const [letter] = lettersIn(data) ?? [];
  const bytesMax = isAll ? Infinity : trimmedBytesMax;
  return (
    <Page
      title="Dead letter"
      id={id}
      actions={
        letter && (
          <>
            <Action
              does="Retry"
              to={id}
              asked={{ id: "retryDeadLetter", params: [id] }}
              leaveTo={({ messageId }) => `/messages/${part(messageId)}`}
              isPrimary
            />
            {mayWrite && (
              <a className="button" href={`#/publish?letter=${part(id)}`}>
                Edit and send…
              </a>
            )}
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
      <Trouble error={error} />
      {data !== undefined && letter === undefined && <Past id={id} />}
      {letter !== undefined && (
        <Letter letter={letter} bytesMax={bytesMax} more={() => setAll(true)} />
      )}
    </Page>
  );
}

function Past({ id }: { readonly id: string }) {
  const { data } = useWork(["past letter", id], async (session, signal) => ({
    failed: await failureOf(session, id, signal),
  }));
  if (data === undefined) return null;
  return (
    <p className="notice">
      <span>This dead letter no longer exists. </span>
      {data.failed === undefined ? (
        <span>The log has no dead letter with this id.</span>
      ) : (
        <>
          <span>
            Its message is <MessageId id={data.failed.messageId} />.{" "}
          </span>
          <Retried failed={data.failed} />
        </>
      )}
    </p>
  );
}

type LetterProps = {
  readonly letter: DeadLetter;
  readonly bytesMax: number;
  readonly more: () => void;
};

function Letter({ letter, bytesMax, more }: LetterProps) {
  const answer = ofText(letter.responseBody, letter.responseBodyBase64, bytesMax);
  const body = ofText(letter.body, letter.bodyBase64, bytesMax);
  const made = publicationOf(letter, body);
  const curl = againAsCurl(made, apiBase());
  return (
    <>
      <Reason
        what="Failed"
        status={letter.responseStatus}
        error={letter.error}
        answer={answer?.isBinary ? undefined : answer?.text}
      />
      <div className="columns">
        <div className="stack">
          <Panel title="Dead letter">
            <Inside>
              <Standing letter={letter} />
            </Inside>
          </Panel>
          <Panel title="Last answer">
            <Inside>
              <Body title="Body of the answer" body={answer} more={more} />
              <div>
                <h3 className="muted">Headers</h3>
                <HeaderList headers={letter.responseHeader} />
              </div>
            </Inside>
          </Panel>
        </div>
        <Panel
          title="Request"
          aside={
            !body?.isCut && <CopyButton text={curl} name="Copy as curl" label="Copy as curl" />
          }
        >
          <Inside>
            <Body title="Body of the request" body={body} more={more} />
            <div>
              <h3 className="muted">Headers</h3>
              <HeaderList headers={letter.header} />
            </div>
          </Inside>
        </Panel>
      </div>
    </>
  );
}

function Standing({ letter }: { readonly letter: DeadLetter }) {
  const { plan } = useSession();
  const { dlqId, topicName, scheduleId, queueName, flowControlKey, labels } = letter;
  const failed = failedAt(dlqId);
  return (
    <Facts
      facts={[
        ["Failed", timeOf(failed)],
        [
          "Kept until",
          plan && failed !== undefined && (
            <>
              {timeOf(failed + plan.deadLetterMs)}{" "}
              <span className="muted">
                ({durationOf(plan.deadLetterMs)}, deadLetterMs of the plan)
              </span>
            </>
          ),
        ],
        ["Message", <MessageId id={letter.messageId} />],
        [
          "Destination",
          <span className="mono">{`${shown(letter.method)} ${shown(letter.url, 2_000)}`}</span>,
        ],
        ["Accepted", timeOf(letter.createdAt)],
        ["Retry of", letter.retryOf && <MessageId id={letter.retryOf.messageId} />],
        ["Labels", labels && <Labels to="/dead-letters" labels={labels} />],
        ["Queue", queueName !== undefined && <Id to="/queues" id={queueName} />],
        ["Group", topicName !== undefined && <Id to="/groups" id={topicName} />],
        ["Schedule", scheduleId !== undefined && <Id to="/schedules" id={scheduleId} />],
        [
          "Flow key",
          flowControlKey !== undefined && (
            <Filtered to="/flow-keys" by="search" text={flowControlKey} />
          ),
        ],
        ["Caller's address", shown(letter.callerIP)],
      ]}
    />
  );
}
