/** One message: where it stands, each attempt, and what was sent. */
import { type LogEntry } from "@posthaste/client/api";
import { useState } from "react";
import { useLastPart } from "../address.ts";
import { useAsked } from "../api/asked.ts";
import { durationOf, shown } from "../api/text.ts";
import { Action } from "../parts/action.tsx";
import { type Fact, Facts } from "../parts/facts.tsx";
import { Page } from "../parts/page.tsx";
import { Id, Time, timeOf } from "../parts/text.tsx";
import { Trouble } from "../parts/trouble.tsx";
import { hasEnded, type Story, storyOf } from "../rules/attempts.ts";
import { Attempts } from "./message-attempts.tsx";
import { Sent } from "./message-sent.tsx";
import { MessageState } from "./states.tsx";

/** The newest of them: more than three hundred attempts. */
const eventsMax = 1_000;

export function MessagePage() {
  const id = useLastPart();
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
  return (
    <Page
      title={`Message ${shown(id)}`}
      actions={
        isLive && (
          <>
            {story.state === "RETRY" && (
              <Action does="Deliver now" to={id} asked={{ id: "runMessageNow", params: [id] }} />
            )}
            <Action does="Cancel" to={id} asked={{ id: "cancelMessage", params: [id] }} isFinal />
          </>
        )
      }
    >
      <Trouble error={error} isStale={data !== undefined} />
      {data !== undefined && events.length === 0 && <p>The log knows no message of this id.</p>}
      {events[0] !== undefined && (
        <>
          <Standing event={events[0]} story={story} />
          {story.state === "FAILED" && <LetterOf messageId={id} />}
          <h2>Attempts</h2>
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
          <Sent event={events[0]} />
        </>
      )}
    </Page>
  );
}

type StandingProps = { readonly event: LogEntry; readonly story: Story };

function Standing({ event, story }: StandingProps) {
  const { state, createdAt, endedAt, attempts } = story;
  const facts: readonly Fact[] = [
    ["State", state && <MessageState state={state} />],
    ["To", <span className="mono">{`${shown(event.method)} ${shown(event.url, 2_000)}`}</span>],
    ["Accepted", timeOf(createdAt)],
    [
      "Ended",
      endedAt !== undefined && (
        <>
          <Time at={endedAt} />
          {createdAt !== undefined && ` after ${durationOf(endedAt - createdAt)}`}
        </>
      ),
    ],
    [
      "Attempts",
      `${attempts.length}${createdAt === undefined ? " shown" : ""} of at most ${event.maxRetries + 1}`,
    ],
    ["Labels", shown(event.labels?.join(", "))],
    ["Queue", shown(event.queueName)],
    ["Group", event.topicName !== undefined && <Id to="/groups" id={event.topicName} />],
    ["Schedule", event.scheduleId !== undefined && <Id to="/schedules" id={event.scheduleId} />],
    ["Flow key", shown(event.flowControlKey)],
    ["Callback", shown(event.callback, 2_000)],
    ["Failure callback", shown(event.failureCallback, 2_000)],
    ["Caller's address", shown(event.callerIP)],
  ];
  return <Facts facts={facts} />;
}

/** While there is one, it is where the message is tried again. */
function LetterOf({ messageId }: { readonly messageId: string }) {
  const query = { messageId, count: 1, trimBody: 0 };
  const { data } = useAsked({ id: "listDeadLetters", query });
  const [letter] = data?.messages ?? [];
  if (letter === undefined) return null;
  return (
    <p>
      It is a dead letter: <Id to="/dead-letters" id={letter.dlqId} />{" "}
      <Action
        does="Retry"
        to={letter.dlqId}
        asked={{ id: "retryDeadLetter", params: [letter.dlqId] }}
      />
    </p>
  );
}
