/** Sets a flow key's limits by hand. Publishes do not change pinned limits. */
import { type FlowKey } from "@posthaste/client/api";
import { useChange } from "../api/asked.ts";
import { shown } from "../api/text.ts";
import { Sheet } from "../parts/dialog.tsx";
import { FaultyForm, type Input, Inputs } from "../parts/fields.tsx";
import { textIn } from "../parts/form.ts";

type Props = {
  /** Undefined for a key that no publish has named yet. */
  readonly flowKey?: FlowKey;
  readonly close: () => void;
};

export function Pin({ flowKey, close }: Props) {
  const { mutate, isPending, error } = useChange<"pinFlowKey">();
  const key = flowKey?.flowControlKey;
  const inputs: readonly Input[] = [
    ...(key === undefined
      ? [{ name: "key", label: "Key", isRequired: true, sentAs: "flowControlKey" }]
      : []),
    {
      name: "parallelism",
      label: "Parallelism",
      kind: "number",
      initial: flowKey?.parallelismMax || "",
    },
    { name: "rate", label: "Rate", kind: "number", initial: flowKey?.rateMax || "" },
    {
      name: "period",
      label: "Period in seconds",
      kind: "number",
      initial: flowKey?.ratePeriod ?? 1,
    },
  ];
  const submit = (form: FormData): void => {
    const given = (name: string): string => textIn(form, name);
    const rate = given("rate");
    const query = {
      ...(given("parallelism") !== "" && { parallelism: given("parallelism") }),
      ...(rate !== "" && { rate, period: given("period") }),
    };
    mutate({ id: "pinFlowKey", params: [key ?? given("key")], query }, { onSuccess: close });
  };
  return (
    <Sheet title={key === undefined ? "Pin a flow key" : `Pin ${shown(key)}`} close={close}>
      <FaultyForm name="Limits" inputs={inputs} error={error} onGiven={submit}>
        <Inputs inputs={inputs} />
        <div className="buttons">
          <button type="button" onClick={close}>
            Not now
          </button>
          <button type="submit" className="primary" disabled={isPending}>
            Pin
          </button>
        </div>
      </FaultyForm>
    </Sheet>
  );
}
