/** The headers that a message sends, and its body while the message or its dead letter exists. */
import { type LogEntry } from "@posthaste/client/api";
import { useState } from "react";
import { apiBase } from "../api/call.ts";
import { useAsked } from "../api/asked.ts";
import { useSession } from "../api/session.ts";
import { durationOf } from "../api/text.ts";
import { Body, ofBase64 } from "../parts/body.tsx";
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
  const body =
    base64 === undefined ? undefined : ofBase64(base64, isAll ? Infinity : trimmedBytesMax);
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
          none={data !== undefined && <NoLonger story={story} />}
        />
        <div>
          <h3 className="muted">Headers</h3>
          <HeaderList headers={header} />
        </div>
      </Inside>
    </Panel>
  );
}

function NoLonger({ story: { state, endedAt } }: { readonly story: Story }) {
  const { plan } = useSession();
  if (!hasEnded(state) || endedAt === undefined) return <>none</>;
  return (
    <span>
      {state === "FAILED" ? (
        <>
          none, or its dead letter is gone
          {plan && `: it is kept for ${durationOf(plan.deadLetterMs)} (deadLetterMs of the plan)`}
        </>
      ) : (
        <>
          none, or no longer kept: a body is kept until its message ends, which was at{" "}
          <Time at={endedAt} />
        </>
      )}
    </span>
  );
}
