import { type Run } from "@posthaste/client/api";
import { useState } from "react";
import { part } from "../../address.ts";
import { useSend } from "../../api/asked.ts";
import { useSession } from "../../api/session.ts";
import { shown } from "../../api/text.ts";
import { Call, postAsCurl } from "../../parts/copy.tsx";
import { Sheet } from "../../parts/dialog.tsx";
import { FaultyForm, type Input, Inputs } from "../../parts/fields.tsx";
import { textIn } from "../../parts/form.ts";
import { Age, Time } from "../../parts/text.tsx";
import { useSay } from "../../parts/toasts.tsx";
import { type StepRow } from "../../rules/waterfall.ts";

type Props = { readonly run: Run; readonly row: StepRow };

export function Waits({ run, row: { name, step } }: Props) {
  const { mayWrite } = useSession();
  const [isOpen, setOpen] = useState(false);
  const { waitEventId: event = "", waitTimeoutDeadline: until } = step;
  return (
    <section aria-label="Why" className="notice busy">
      <span className="why">
        The step {shown(name)} waits for the event {shown(event)}
      </span>
      {until !== undefined && (
        <span>
          The wait ends <Age at={until} />, at <Time at={until} />.
        </span>
      )}
      {mayWrite && (
        <span className="buttons">
          <button type="button" className="primary" onClick={() => setOpen(true)}>
            Send event…
          </button>
        </span>
      )}
      {isOpen && <Tell runId={run.workflowRunId} event={event} close={() => setOpen(false)} />}
    </section>
  );
}

const inputs: readonly Input[] = [
  {
    name: "payload",
    label: "Data of the event",
    kind: "area",
    isWide: true,
    hint: "JSON, as the workflow expects it; may be empty.",
    initial: '{"approved":true}',
  },
];

type TellProps = { readonly runId: string; readonly event: string; readonly close: () => void };

function Tell({ runId, event, close }: TellProps) {
  const say = useSay();
  const [payload, setPayload] = useState('{"approved":true}');
  const { mutate, isPending, error } = useSend(() => undefined);
  const path = `notify/${part(runId)}/${part(event)}`;
  return (
    <Sheet title={`Send event ${shown(event)}`} close={close}>
      <FaultyForm
        name="Send event"
        inputs={inputs}
        error={error}
        onChange={(form) => setPayload(textIn(form, "payload"))}
        onGiven={(form) =>
          mutate(
            { path, headers: [], body: textIn(form, "payload") },
            {
              onSuccess: () => {
                say(`The run received the event ${shown(event)}.`);
                close();
              },
            },
          )
        }
      >
        <Inputs inputs={inputs} />
        <div className="buttons">
          <button type="button" onClick={close}>
            Not now
          </button>
          <button type="submit" className="primary" disabled={isPending}>
            Send event
          </button>
        </div>
      </FaultyForm>
      <Call curl={postAsCurl(path, { body: payload })} />
    </Sheet>
  );
}
