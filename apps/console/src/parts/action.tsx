/** A button that changes something. Hidden from a session that may not. */
import { acts } from "@posthaste/client/api";
import { useState } from "react";
import { useChange } from "../api/asked.ts";
import { type AnswerOf, type Asked, type OperationId } from "../api/call.ts";
import { useSession } from "../api/session.ts";
import { shown } from "../api/text.ts";
import { Sure } from "./dialog.tsx";
import { useSay } from "./toasts.tsx";

type Props<Id extends OperationId> = {
  /** The label, such as "Retry". For screen readers the name includes the id, too. */
  readonly does: string;
  readonly to: string;
  readonly asked: Asked<Id>;
  /** Asks first, since the action cannot be undone. */
  readonly isFinal?: boolean;
  readonly isPrimary?: boolean;
  readonly isSmall?: boolean;
  /** The consequence, shown before the action. */
  readonly says?: string;
  /** Returns the page of the result, for a notice on this page. */
  readonly shownAt?: (answer: AnswerOf<Id>) => string;
  /** Returns the page to go to afterwards. */
  readonly leaveTo?: (answer: AnswerOf<Id>) => string;
};

export function Action<Id extends OperationId>(props: Props<Id>) {
  const { does, to, asked, isFinal = false, isPrimary = false, isSmall = false, says } = props;
  const { leaveTo, shownAt } = props;
  const { mayAct, mayWrite } = useSession();
  const say = useSay();
  const name = `${does} ${shown(to)}`;
  const { mutate, isPending } = useChange<Id>({
    leaveTo,
    onDone: (answer) =>
      say(`Done: ${name[0]?.toLowerCase()}${name.slice(1)}`, shownAt && { to: shownAt(answer) }),
    onRefused: ({ message }) => say(message, { type: "bad" }),
  });
  const [isAsking, setAsking] = useState(false);
  if (!(isAct(asked.id) ? mayAct : mayWrite)) return null;
  const act = (): void => {
    setAsking(false);
    mutate(asked);
  };
  const look = [isFinal && "danger", isPrimary && "primary", isSmall && "small"];
  return (
    <>
      <button
        type="button"
        aria-label={name}
        className={look.filter((each) => each !== false).join(" ")}
        disabled={isPending}
        onClick={() => (isFinal ? setAsking(true) : act())}
      >
        {does}
      </button>
      {isFinal && (
        <Sure
          isOpen={isAsking}
          title={`${name}?`}
          does={`Yes, ${does.toLowerCase()}`}
          name={`Yes, ${name[0]?.toLowerCase()}${name.slice(1)}`}
          act={act}
          keep={() => setAsking(false)}
        >
          {says}
        </Sure>
      )}
    </>
  );
}

const isAct = (id: OperationId): boolean => acts.some((act) => act === id);
