import { type Queue } from "@posthaste/client/api";
import { useChange } from "../api/asked.ts";
import { shown } from "../api/text.ts";
import { CopyButton, postAsCurl } from "../parts/copy.tsx";
import { Sheet } from "../parts/dialog.tsx";
import { FaultyForm, type Input, Inputs } from "../parts/fields.tsx";
import { textIn } from "../parts/form.ts";
import { useSay } from "../parts/toasts.tsx";
import { useState } from "react";

type Props = {
  /** Undefined for a new queue. */
  readonly queue?: Queue;
  readonly close: () => void;
  readonly done: (name: string) => void;
};

const bodyOf = (form: FormData, queue: Queue | undefined) => {
  const parallelism = textIn(form, "parallelism");
  return {
    queueName: queue?.name ?? textIn(form, "queueName"),
    ...(parallelism !== "" && { parallelism: Number(parallelism) }),
  };
};

export function QueueForm({ queue, close, done }: Props) {
  const say = useSay();
  const { mutate, isPending, error } = useChange<"upsertQueue">();
  const [body, setBody] = useState<ReturnType<typeof bodyOf>>();
  const inputs: readonly Input[] = [
    ...(queue === undefined ? [{ name: "queueName", label: "Name", isRequired: true }] : []),
    {
      name: "parallelism",
      label: "Parallelism",
      kind: "number",
      initial: queue?.parallelism ?? 1,
      hint: "How many messages of the queue may be under way at once.",
    },
  ];
  const curl = postAsCurl("queues", {
    headers: [["Content-Type", "application/json"]],
    body: JSON.stringify(body ?? { queueName: queue?.name ?? "orders", parallelism: 1 }),
  });
  return (
    <Sheet
      title={queue === undefined ? "New queue" : `Edit queue ${shown(queue.name)}`}
      close={close}
    >
      <FaultyForm
        name="Queue"
        inputs={inputs}
        error={error}
        onChange={(form) => setBody(bodyOf(form, queue))}
        onGiven={(form) => {
          const given = bodyOf(form, queue);
          mutate(
            { id: "upsertQueue", body: given },
            {
              onSuccess: () => {
                say(`The queue ${given.queueName} was saved.`);
                close();
                done(given.queueName);
              },
            },
          );
        }}
      >
        <Inputs inputs={inputs} />
        <div className="buttons">
          <CopyButton text={curl} name="Copy as curl" label="Copy as curl" />
          <button type="submit" className="primary" disabled={isPending}>
            {queue === undefined ? "Create queue" : "Save queue"}
          </button>
        </div>
      </FaultyForm>
    </Sheet>
  );
}
