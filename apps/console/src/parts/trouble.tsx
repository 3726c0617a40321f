/** Shows the fault of a request. A server that is away is reported once, in the frame. */
import { isPassing } from "../api/asked.ts";
import { type Refused } from "../api/call.ts";

type Props = { readonly error: Refused | null };

export function Trouble({ error }: Props) {
  if (!error || isPassing(error)) return null;
  return <Notice says={error.message} />;
}

/** Shows the fault of an action, also while the server is away, since the action was not done. */
export function Undone({ error }: Props) {
  return error && <Notice says={error.message} />;
}

const Notice = ({ says }: { readonly says: string }) => (
  <p role="alert" className="notice bad">
    {says}
  </p>
);
