/** The fault of a request. The frame says once that the server is away. */
import { isPassing } from "../api/asked.ts";
import { type Refused } from "../api/call.ts";

type Props = { readonly error: Refused | null };

export function Trouble({ error }: Props) {
  if (!error || isPassing(error)) return null;
  return <Notice says={error.message} />;
}

/** Also of a server that is away: what was to be done was not. */
export function Undone({ error }: Props) {
  return error && <Notice says={error.message} />;
}

const Notice = ({ says }: { readonly says: string }) => (
  <p role="alert" className="notice bad">
    {says}
  </p>
);
