/** What a message sends: headers, and its body while the message or its dead letter is there. */
import { type LogEntry } from "@posthaste/client/api";
import { useState } from "react";
import { useAsked } from "../api/asked.ts";
import { Body, ofBase64 } from "../parts/body.tsx";
import { HeaderList } from "../parts/facts.tsx";

const trimmedBytesMax = 16_384;

export function Sent({ event: { messageId, header } }: { readonly event: LogEntry }) {
  const [isAll, setAll] = useState(false);
  const query = {
    messageId,
    count: 1,
    ...(!isAll && { trimBody: trimmedBytesMax }),
  };
  const { data } = useAsked({ id: "listEvents", query }, { fresh: "once" });
  const body = data?.events[0]?.body;
  return (
    <>
      <h2>Request</h2>
      <Body
        title="Body of the request"
        body={body === undefined ? undefined : ofBase64(body, isAll ? Infinity : trimmedBytesMax)}
        more={() => setAll(true)}
        none={data === undefined ? "" : "none, or no longer kept"}
      />
      <h3 className="muted">Headers</h3>
      <HeaderList headers={header} />
    </>
  );
}
