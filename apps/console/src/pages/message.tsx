/** Shows one message: the reason for its state, each attempt, and the request. */
import { type LogEntry } from "@posthaste/client/api";
import { useState } from "react";
import { part, useLastPart } from "../address.ts";
import { useAsked } from "../api/asked.ts";
import { useSession } from "../api/session.ts";
import { decoded, durationOf, shown } from "../api/text.ts";
import { Action } from "../parts/action.tsx";
import { type Fact, Facts } from "../parts/facts.tsx";
import { useNow } from "../parts/now.ts";
import { Inside, Page, Panel } from "../parts/page.tsx";
import { Age, Filtered, Id, Labels, MessageId, Time, timeOf } from "../parts/text.tsx";
import { Trouble } from "../parts/trouble.tsx";
import { hasEnded, type Story, storyOf } from "../rules/attempts.ts";
import { heldUp } from "../rules/held-up.ts";
import { Attempts } from "./message-attempts.tsx";
import { Sent } from "./message-sent.tsx";
import { Reason } from "./reason.tsx";
import { Retried } from "./retried.tsx";
import { MessageState } from "./states.tsx";

/** The newest events: more than three hundred attempts. */
const eventsMax = 1_000;

export function MessagePage() {
  const id = useLastPart();
  const { mayWrite } = useSession();
  const [before, setBefore] = useState<string>();
  const query = {
    messageId: id,
    count: eventsMax,
    trimBody: 2_048,
    ...(before !== undefined && { cursor: before }),
  };
  const { data, error } = useAsked(
    { id: "listEvents", query },
    { fresh: before === undefined ? "log" : "once", messageId: id },
  );
  const events = data?.events ?? [];
  const isWhole = before === undefined && data?.cursor === undefined;
  const story = storyOf(events, isWhole);
  const isLive = before === undefined && story.state !== undefined && !hasEnded(story.state);
  const [newest] = events;
  return (
    <Page
      title="Message"
      id={id}
      state={story.state && <MessageState state={story.state} />}
      actions={
        <>
          {isLive && story.state === "RETRY" && (
            <Action does="Deliver now" to={id} asked={{ id: "runMessageNow", params: [id] }} />
          )}
          {newest !== undefined && mayWrite && (
            <a className="button" href={`#/publish?message=${part(id)}`}>
              Send again…
            </a>
          )}
          {isLive && (
            <Action does="Cancel" to={id} asked={{ id: "cancelMessage", params: [id] }} isFinal />
          )}
        </>
      }
    >
      <Trouble error={error} />
      {data !== undefined && events.length === 0 && <Unknown />}
      {newest !== undefined && (
        <>
          <Why event={newest} story={story} />
          <div className="columns">
            <Panel title="Attempts" aside={attemptsOf(newest, story)}>
              <Inside>
                <Attempts messageId={id} story={story} />
                {data?.cursor !== undefined && (
                  <button type="button" onClick={() => setBefore(data.cursor)}>
                    Earlier attempts
                  </button>
                )}
                {before !== undefined && (
                  <button type="button" onClick={() => setBefore(undefined)}>
                    The newest attempts
                  </button>
                )}
              </Inside>
            </Panel>
            <div className="stack">
              <Panel title="Message">
                <Inside>
                  <Standing event={newest} story={story} />
                </Inside>
              </Panel>
              <Sent event={newest} story={story} />
            </div>
          </div>
        </>
      )}
    </Page>
  );
}

function Unknown() {
  const { plan } = useSession();
  return (
    <p className="notice">
      The log has no message with this id
      {plan && `. Events are kept for ${durationOf(plan.logMs)} (logMs of the plan)`}.
    </p>
  );
}

const attemptsOf = ({ maxRetries }: LogEntry, { attempts, createdAt }: Story): string =>
  `${attempts.length}${createdAt === undefined ? " shown" : ""} of at most ${maxRetries + 1}`;

type OfProps = { readonly event: LogEntry; readonly story: Story };

function Why({ event, story }: OfProps) {
  const { state, lastFailure, attempts, createdAt } = story;
  if (state === "FAILED" || state === "RETRY") {
    const tries = attempts.length === 1 ? "attempt" : "attempts";
    const count = `${createdAt === undefined ? "at least " : ""}${attempts.length} ${tries}`;
    const body = lastFailure?.responseBody;
    return (
      <Reason
        what={state === "FAILED" ? `Failed after ${count}` : `Waits for a retry after ${count}`}
        tone={state === "FAILED" ? "bad" : "busy"}
        status={lastFailure?.responseStatus}
        error={lastFailure?.error}
        answer={body === undefined ? undefined : decoded(body).text}
      >
        {state === "FAILED" && <LetterOf failed={event} />}
        {state === "RETRY" && event.nextDeliveryTime !== undefined && (
          <span>
            The next attempt is <Age at={event.nextDeliveryTime} />, at{" "}
            <Time at={event.nextDeliveryTime} />.
          </span>
        )}
      </Reason>
    );
  }
  return state === "CREATED" ? <HeldUpBy event={event} /> : null;
}

/** Links to the dead letter while it exists, since a retry is made there. */
function LetterOf({ failed }: { readonly failed: LogEntry }) {
  const query = { messageId: failed.messageId, count: 1, trimBody: 0 };
  const { data } = useAsked({ id: "listDeadLetters", query });
  if (data === undefined) return null;
  const [letter] = data.messages;
  if (letter === undefined) return <Retried failed={failed} />;
  return (
    <span className="buttons">
      <span>
        Dead letter: <Id to="/dead-letters" id={letter.dlqId} />
      </span>
      <Action
        does="Retry"
        to={letter.dlqId}
        asked={{ id: "retryDeadLetter", params: [letter.dlqId] }}
        leaveTo={(made) => `/messages/${part(made.messageId)}`}
        isSmall
        isPrimary
      />
    </span>
  );
}

function HeldUpBy({
  event: { messageId, queueName, flowControlKey },
}: {
  readonly event: LogEntry;
}) {
  const now = useNow();
  const message = useAsked({ id: "readMessage", params: [messageId] }, { fresh: "often" });
  const queue = useAsked(
    { id: "readQueue", params: [queueName ?? ""] },
    { fresh: "often", isAsked: queueName !== undefined },
  );
  const key = useAsked(
    { id: "readFlowKey", params: [flowControlKey ?? ""] },
    { fresh: "often", isAsked: flowControlKey !== undefined },
  );
  const notBefore = message.data?.notBefore;
  const by = heldUp({ queue: queue.data, key: key.data, notBefore, now });
  if (by.length === 0) return null;
  return (
    <section aria-label="Why" className="notice busy">
      {by.map(({ words, to }, nth) => (
        <span key={words} className={nth === 0 ? "why" : undefined}>
          {to === undefined ? shown(words) : <a href={`#${to}`}>{shown(words)}</a>}
          {to === undefined && notBefore !== undefined && (
            <>
              : the attempt is <Age at={notBefore} />, at <Time at={notBefore} />
            </>
          )}
          .
        </span>
      ))}
    </section>
  );
}

function Standing({ event, story: { createdAt, endedAt } }: OfProps) {
  const { queueName, flowControlKey, labels, callback, failureCallback } = event;
  const facts: readonly Fact[] = [
    [
      "Destination",
      <span className="mono">{`${shown(event.method)} ${shown(event.url, 2_000)}`}</span>,
    ],
    ["Accepted", timeOf(createdAt)],
    [
      "Ended",
      endedAt !== undefined && (
        <>
          {timeOf(endedAt)}
          {createdAt !== undefined && (
            <span className="muted"> · took {durationOf(endedAt - createdAt)}</span>
          )}
        </>
      ),
    ],
    ["Time-out", durationOf(event.timeout)],
    ["Labels", labels && <Labels to="/messages" labels={labels} />],
    ["Queue", queueName !== undefined && <Id to="/queues" id={queueName} />],
    ["Group", event.topicName !== undefined && <Id to="/groups" id={event.topicName} />],
    ["Schedule", event.scheduleId !== undefined && <Id to="/schedules" id={event.scheduleId} />],
    [
      "Flow key",
      flowControlKey !== undefined && (
        <Filtered to="/flow-keys" by="search" text={flowControlKey} />
      ),
    ],
    ["Retry of", event.retryOf && <MessageId id={event.retryOf.messageId} />],
    ["Callback", callback !== undefined && <Filtered to="/messages" by="url" text={callback} />],
    [
      "Failure callback",
      failureCallback !== undefined && <Filtered to="/messages" by="url" text={failureCallback} />,
    ],
    ["Caller's address", shown(event.callerIP)],
  ];
  return <Facts facts={facts} />;
}
