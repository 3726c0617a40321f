import { type LogEntry } from "@posthaste/client/api";
import { useState } from "react";
import { useAsked } from "../api/asked.ts";
import { counted, durationOf, shown } from "../api/text.ts";
import { Body, ofBase64, ofText } from "../parts/body.tsx";
import { HeaderList } from "../parts/facts.tsx";
import { Age, State, Time, type Tone } from "../parts/text.tsx";
import { type Attempt, type Story } from "../rules/attempts.ts";

const tones = {
  "under way": "busy",
  delivered: "good",
  failed: "bad",
  canceled: "calm",
} as const satisfies Readonly<Record<Attempt["outcome"], Tone>>;

const words = {
  "under way": "under way",
  delivered: "delivered",
  failed: "failed",
  canceled: "cancelled",
} as const satisfies Readonly<Record<Attempt["outcome"], string>>;

type Props = { readonly messageId: string; readonly story: Story };

export function Attempts({ messageId, story: { attempts, createdAt } }: Props) {
  return (
    <ol className="timeline" reversed aria-label="Attempts, newest first">
      {attempts.map((attempt, nth) => (
        <AttemptLine
          key={attempt.key}
          attempt={attempt}
          messageId={messageId}
          isNewest={nth === 0}
        />
      ))}
      {createdAt !== undefined && (
        <li>
          <span className="line">
            <span>Accepted</span>
            <Time at={createdAt} />
          </span>
        </li>
      )}
    </ol>
  );
}

type LineProps = {
  readonly attempt: Attempt;
  readonly messageId: string;
  readonly isNewest: boolean;
};

function AttemptLine({ attempt, messageId, isNewest }: LineProps) {
  const { number, startedAt, endedAt, outcome, answer, failure, nextAt } = attempt;
  return (
    <li className={tones[outcome]}>
      <span className="line">
        <strong>{number === undefined ? "Attempt" : `Attempt ${number}`}</strong>
        <State tone={tones[outcome]}>{words[outcome]}</State>
        {answer !== undefined && <span>status {answer.status}</span>}
        <Time at={startedAt ?? endedAt} />
        {startedAt !== undefined && endedAt !== undefined && (
          <span className="muted">took {durationOf(endedAt - startedAt)}</span>
        )}
        {answer?.bytes !== undefined && (
          <span className="muted">answered {counted(answer.bytes, "byte")}</span>
        )}
        {nextAt !== undefined && isNewest && (
          <span className="muted">
            next attempt <Age at={nextAt} />
          </span>
        )}
      </span>
      {failure?.error !== undefined && <p className="trouble">{shown(failure.error, 2_000)}</p>}
      {failure !== undefined && (
        <Answer failure={failure} messageId={messageId} isOpen={isNewest} />
      )}
      {outcome === "delivered" && isNewest && answer?.bytes !== 0 && (
        <KeptAnswer messageId={messageId} />
      )}
    </li>
  );
}

const trimmedBytesMax = 2_048;

type AnswerProps = {
  readonly failure: LogEntry;
  readonly messageId: string;
  readonly isOpen: boolean;
};

/** Shows the beginning of the destination's answer, and on demand all of it. */
function Answer({ failure, messageId, isOpen }: AnswerProps) {
  const [isAll, setAll] = useState(false);
  const { time, responseBody, responseHeaders } = failure;
  const query = { messageId, state: "ERROR", fromDate: time, toDate: time, count: 1 };
  const { data } = useAsked({ id: "listEvents", query }, { fresh: "once", isAsked: isAll });
  const whole = data?.events[0]?.responseBody;
  if (responseBody === undefined && responseHeaders === undefined) return null;
  const body =
    whole !== undefined
      ? ofBase64(whole, Infinity)
      : responseBody && ofBase64(responseBody, trimmedBytesMax);
  return (
    <details open={isOpen}>
      <summary>
        Answer
        {responseBody !== undefined && `, ${bytesOf(responseBody)}${isTrimmed(responseBody)}`}
      </summary>
      <Body title="Body of the answer" body={body || undefined} more={() => setAll(true)} />
      <h3 className="muted">Headers</h3>
      <HeaderList headers={responseHeaders} />
    </details>
  );
}

/** Shows the kept part of the answer that delivered the message. */
function KeptAnswer({ messageId }: { readonly messageId: string }) {
  const { data } = useAsked({ id: "readMessage", params: [messageId] }, { fresh: "once" });
  const last = data?.attempts.at(-1);
  if (last === undefined) return null;
  const body = ofText(last.answerBody, last.answerBodyBase64, Infinity);
  return (
    <details open>
      <summary>Answer</summary>
      <Body
        title="Body of the answer"
        body={body && { ...body, isCut: last.answerTruncated === true }}
        none={
          data?.bodyKeptUntil === undefined ? (
            "not kept"
          ) : (
            <span>
              not kept, or kept only until <Time at={data.bodyKeptUntil} /> (keepBodiesMs of the
              plan)
            </span>
          )
        }
      />
    </details>
  );
}

const sizeOf = (base64: string): number => Math.floor((base64.replace(/=+$/, "").length * 3) / 4);

const bytesOf = (base64: string): string => {
  const bytes = sizeOf(base64);
  return `${bytes.toLocaleString("en")} ${bytes === 1 ? "byte" : "bytes"}`;
};
const isTrimmed = (base64: string): string => (sizeOf(base64) >= trimmedBytesMax ? " or more" : "");
