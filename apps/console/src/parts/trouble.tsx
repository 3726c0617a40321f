/** What went wrong with what was asked. */
import { type Refused } from "../api/call.ts";

type Props = {
  readonly error: Refused | null;
  /** What is shown is from before. */
  readonly isStale?: boolean;
};

export function Trouble({ error, isStale = false }: Props) {
  if (!error) return null;
  return (
    <p role="alert" className="trouble">
      {error.message}
      {isStale && " What is shown is from before."}
    </p>
  );
}
