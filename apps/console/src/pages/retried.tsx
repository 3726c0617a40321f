/** Shows what happened to a failed message whose dead letter was removed. */
import { type LogEntry } from "@posthaste/client/api";
import { useAsked } from "../api/asked.ts";
import { MessageId } from "../parts/text.tsx";

/** `failed`: the event of its failure. */
export function Retried({ failed: { retryMessageId } }: { readonly failed: LogEntry }) {
  const query = { messageId: retryMessageId ?? "", count: 1, trimBody: 0 };
  const isAsked = retryMessageId !== undefined;
  const { data } = useAsked({ id: "listEvents", query }, { isAsked });
  if (retryMessageId === undefined || data === undefined) return null;
  if (data.events.length > 0)
    return (
      <span>
        Retried as <MessageId id={retryMessageId} />
      </span>
    );
  return (
    <span className="muted">
      Its dead letter was removed, has expired, or was sent again by a publish that the log does not
      link.
    </span>
  );
}
