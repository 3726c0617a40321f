/** What a retry or a restart changes of flow control: key and limits, each on its own. */
import { type FlowLimits } from "../lane/flow-control.ts";
import { fault, type Fault } from "../shared/fault.ts";
import { type Policy } from "./message.ts";

/** At least one of them. */
export type FlowChange = { readonly key?: string; readonly limits?: FlowLimits };

/** Key and limits of `change`, and those of `stored` where it names none. One without the other limits nothing. */
export function changedFlow(stored: Policy["flow"], change: FlowChange = {}): Policy["flow"] {
  const { key = stored?.key, limits = stored?.limits } = change;
  return key !== undefined && limits ? { key, limits } : undefined;
}

/** A key needs limits and limits need a key: of the change, or of what is changed. */
export function faultOfFlow(stored: Policy["flow"], change?: FlowChange): Fault | undefined {
  if (!change || changedFlow(stored, change)) return undefined;
  const [given, missing] =
    change.key === undefined ? (["Value", "Key"] as const) : (["Key", "Value"] as const);
  return fault(
    "malformed",
    `Flow-Control-${given}: requires Flow-Control-${missing}, as what failed has none`,
  );
}
