/** The headers that a message sends, and its body while the message or its dead letter exists, or the plan keeps it. */
import { type LogEntry } from "@posthaste/client/api";
import { useState } from "react";
import { apiBase } from "../api/call.ts";
import { useAsked } from "../api/asked.ts";
import { useSession } from "../api/session.ts";
import { durationOf } from "../api/text.ts";
import { Body, ofBase64, ofText } from "../parts/body.tsx";
import { CopyButton } from "../parts/copy.tsx";
import { HeaderList } from "../parts/facts.tsx";
import { Inside, Panel } from "../parts/page.tsx";
import { Time } from "../parts/text.tsx";
import { hasEnded, type Story } from "../rules/attempts.ts";
import { againAsCurl, publicationOf } from "../rules/publication.ts";

const trimmedBytesMax = 16_384;

type Props = { readonly event: LogEntry; readonly story: Story };

export function Sent({ event, story }: Props) {
  const { messageId, header } = event;
  const [isAll, setAll] = useState(false);
  const query = {
    messageId,
    count: 1,
    ...(!isAll && { trimBody: trimmedBytesMax }),
  };
  const { data } = useAsked({ id: "listEvents", query }, { fresh: "once" });
  const base64 = data?.events[0]?.body;
  const isOver = data !== undefined && base64 === undefined && hasEnded(story.state);
  const { data: ended } = useAsked(
    { id: "readMessage", params: [messageId] },
    { fresh: "once", isAsked: isOver && story.state !== "FAILED" },
  );
  const body =
    base64 === undefined
      ? ofText(ended?.body, ended?.bodyBase64, Infinity)
      : ofBase64(base64, isAll ? Infinity : trimmedBytesMax);
  const made = publicationOf(event, body);
  const curl = againAsCurl(made, apiBase());
  return (
    <Panel
      title="Request"
      aside={!body?.isCut && <CopyButton text={curl} name="Copy as curl" label="Copy as curl" />}
    >
      <Inside>
        <Body
          title="Body of the request"
          body={body}
          more={() => setAll(true)}
          none={data !== undefined && <NoLonger story={story} keptUntil={ended?.bodyKeptUntil} />}
        />
        {body !== undefined && ended?.bodyKeptUntil !== undefined && (
          <p className="muted">
            Kept until <Time at={ended.bodyKeptUntil} /> (keepBodiesMs of the plan).
          </p>
        )}
        <div>
          <h3 className="muted">Headers</h3>
          <HeaderList headers={header} />
        </div>
      </Inside>
    </Panel>
  );
}

type EndedProps = { readonly story: Story; readonly keptUntil: number | undefined };

function NoLonger({ story: { state, endedAt }, keptUntil }: EndedProps) {
  const { plan } = useSession();
  if (!hasEnded(state) || endedAt === undefined) return <>none</>;
  return (
    <span>
      {state === "FAILED" ? (
        <>
          none, or removed with its dead letter
          {plan &&
            `, which is kept for ${durationOf(plan.deadLetterMs)} (deadLetterMs of the plan)`}
        </>
      ) : (
        <>
          none
          {keptUntil !== undefined && (
            <>
              , or kept only until <Time at={keptUntil} /> (keepBodiesMs of the plan)
            </>
          )}
        </>
      )}
    </span>
  );
}
