/** The limits of a flow key, set by hand: publishes leave what is pinned. */
import { type FlowKey } from "@posthaste/client/api";
import { type FormEvent, useEffect, useRef } from "react";
import { useChange } from "../api/asked.ts";
import { shown } from "../api/text.ts";
import { textIn } from "../parts/form.ts";
import { Trouble } from "../parts/trouble.tsx";

type Props = { readonly flowKey: FlowKey; readonly close: () => void };

export function Pin({ flowKey, close }: Props) {
  const { flowControlKey: key, parallelismMax, rateMax, ratePeriod } = flowKey;
  const { mutate, isPending, error } = useChange<"pinFlowKey">();
  const first = useRef<HTMLInputElement>(null);
  useEffect(() => first.current?.focus(), []);
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const given = (name: string): string => textIn(form, name);
    const rate = given("rate");
    const query = {
      ...(given("parallelism") !== "" && { parallelism: given("parallelism") }),
      ...(rate !== "" && { rate, period: given("period") }),
    };
    mutate({ id: "pinFlowKey", params: [key], query }, { onSuccess: close });
  };
  return (
    <form className="form" aria-label={`Pin ${shown(key)}`} onSubmit={submit}>
      <strong className="mono">{shown(key)}</strong>
      <label>
        At once
        <input
          ref={first}
          name="parallelism"
          type="number"
          min={1}
          defaultValue={parallelismMax || ""}
        />
      </label>
      <label>
        Rate
        <input name="rate" type="number" min={1} defaultValue={rateMax || ""} />
      </label>
      <label>
        Period in seconds
        <input name="period" type="number" min={1} defaultValue={ratePeriod} />
      </label>
      <button type="submit" className="primary" disabled={isPending}>
        Pin
      </button>
      <button type="button" onClick={close}>
        Leave it
      </button>
      <Trouble error={error} />
    </form>
  );
}
