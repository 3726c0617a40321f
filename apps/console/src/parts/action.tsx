/** A button that changes something. A token that may only read sees none. */
import { useEffect, useRef, useState } from "react";
import { go } from "../address.ts";
import { useChange } from "../api/asked.ts";
import { type AnswerOf, type Asked, type OperationId } from "../api/call.ts";
import { useSession } from "../api/session.ts";
import { shown } from "../api/text.ts";
import { Trouble } from "./trouble.tsx";

type Props<Id extends OperationId> = {
  /** Such as "Retry"; the button's name for screen readers has the id, too. */
  readonly does: string;
  readonly to: string;
  readonly asked: Asked<Id>;
  /** It cannot be undone: asks first. */
  readonly isFinal?: boolean;
  /** Where the page goes afterwards. */
  readonly leaveTo?: (answer: AnswerOf<Id>) => string;
};

export function Action<Id extends OperationId>(props: Props<Id>) {
  const { does, to, asked, isFinal = false, leaveTo } = props;
  const { mayWrite } = useSession();
  const { mutate, isPending, error } = useChange<Id>(leaveTo && ((answer) => go(leaveTo(answer))));
  const [isAsking, setAsking] = useState(false);
  if (!mayWrite) return null;
  const name = `${does} ${shown(to)}`;
  const act = (): void => {
    setAsking(false);
    mutate(asked);
  };
  return (
    <span className="action">
      {isAsking ? (
        <Asking does={does} name={name} act={act} keep={() => setAsking(false)} />
      ) : (
        <button
          type="button"
          aria-label={name}
          disabled={isPending}
          onClick={() => (isFinal ? setAsking(true) : act())}
        >
          {does}
        </button>
      )}
      <Trouble error={error} />
    </span>
  );
}

type AskingProps = {
  readonly does: string;
  readonly name: string;
  readonly act: () => void;
  readonly keep: () => void;
};

function Asking({ does, name, act, keep }: AskingProps) {
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => button.current?.focus(), []);
  return (
    <span
      role="group"
      aria-label={`${name}?`}
      onKeyDown={({ key }) => {
        if (key === "Escape") keep();
      }}
    >
      <button
        type="button"
        ref={button}
        className="danger"
        aria-label={`Yes, ${name[0]?.toLowerCase()}${name.slice(1)}`}
        onClick={act}
      >
        Yes, {does.toLowerCase()}
      </button>
      <button type="button" onClick={keep}>
        Keep
      </button>
    </span>
  );
}
