/** Shows why something failed, before all else: status, error, and the body of the answer. */
import { type ReactNode } from "react";
import { shown } from "../api/text.ts";

type Props = {
  /** Such as "Failed after 3 attempts". */
  readonly what: string;
  readonly status: number | undefined;
  readonly error: string | undefined;
  readonly answer: string | undefined;
  readonly tone?: "bad" | "busy";
  readonly children?: ReactNode;
};

/** The whole answer is further down. */
const answerCharsMax = 400;

export function Reason({ what, status, error, answer, tone = "bad", children }: Props) {
  const isStatus = status !== undefined && status !== 0;
  return (
    <section aria-label="Why" className={`notice ${tone}`}>
      <span className="why">
        {what}
        {isStatus && `: status ${status}`}
        {error !== undefined && `${isStatus ? ", " : ": "}${shown(error, 2_000)}`}
      </span>
      {answer !== undefined && answer !== "" && <code>{shown(answer, answerCharsMax)}</code>}
      {children}
    </section>
  );
}
