/** Cancels all messages that a filter matches: counts them, begins, and follows on the action's page. */
import { useState } from "react";
import { go, part } from "../address.ts";
import { call, Refused } from "../api/call.ts";
import { useSession } from "../api/session.ts";
import { counted, wordsOf } from "../api/text.ts";
import { Sure } from "../parts/dialog.tsx";
import { Undone } from "../parts/trouble.tsx";

type Props = { readonly filters: Readonly<Record<string, string>> };

export function BulkCancel({ filters: { cursor: _, state, ...filters } }: Props) {
  const { session } = useSession();
  const [matched, setMatched] = useState<number>();
  const [error, setError] = useState<Refused | null>(null);
  // Without a filter all messages would match. A cancel takes no state, so with one it would cancel more than is shown.
  if (Object.keys(filters).length === 0 || state !== undefined) return null;
  // An id overrides all other filters, and the message's own page cancels it.
  if (filters["messageId"] !== undefined) return null;
  const attempt = (work: Promise<void>): void => {
    setError(null);
    work.catch((reason: unknown) =>
      setError(reason instanceof Refused ? reason : new Refused(0, wordsOf(reason))),
    );
  };
  const count = async (): Promise<void> => {
    const query = { ...filters, dryRun: true };
    const answer = await call(session, { id: "cancelMessages", query });
    setMatched("matched" in answer ? answer.matched : 0);
  };
  const cancel = async (): Promise<void> => {
    setMatched(undefined);
    const query = { ...filters, async: true };
    const answer = await call(session, { id: "cancelMessages", query });
    if ("actionId" in answer && answer.actionId !== undefined)
      go(`/bulk-actions/${part(answer.actionId)}`);
  };
  const messages = counted(matched ?? 0, "message");
  return (
    <>
      <button type="button" className="danger" onClick={() => attempt(count())}>
        Cancel all of these…
      </button>
      <Sure
        isOpen={matched !== undefined}
        title={`Cancel ${messages}?`}
        does={`Cancel ${matched ?? ""}`}
        name={`Cancel ${messages}`}
        act={() => attempt(cancel())}
        keep={() => setMatched(undefined)}
      >
        These messages match the filter and have not ended. They will not be delivered.
      </Sure>
      <Undone error={error} />
    </>
  );
}
