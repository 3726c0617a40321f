/** The plan of a tenant: its limits, which are changed together. */
import { type Tenant } from "@posthaste/client/api";
import { type FormEvent } from "react";
import { useChange } from "../../api/asked.ts";
import { Trouble } from "../../parts/trouble.tsx";

type Limit = keyof Tenant["plan"];

const names = {
  retriesDefault: "Retries by default",
  retriesMax: "Retries at most",
  delayMsMax: "Delay at most, ms",
  timeoutMsDefault: "Time-out by default, ms",
  timeoutMsMax: "Time-out at most, ms",
  bodyBytesMax: "Body at most, bytes",
  batchBytesMax: "Batch at most, bytes",
  responseBytesMax: "Response that is kept, bytes",
  groupEndpointsMax: "Endpoints of a group",
  groupsMax: "URL groups",
  queuesMax: "Queues",
  queueParallelismMax: "Parallelism of a queue",
  schedulesMax: "Schedules",
  parallelismMax: "Calls at once",
  messagesPerDayMax: "Messages a day",
  listsPerSecondMax: "Lists a second",
  logMs: "Log is kept for, ms",
  deadLetterMs: "Dead letters are kept for, ms",
  backlogMax: "Backlog",
} as const satisfies Readonly<Record<Limit, string>>;

const isLimit = (name: string): name is Limit => name in names;

export function Plan({ tenant: { id, plan } }: { readonly tenant: Tenant }) {
  const { mutate, isPending, error } = useChange<"changeTenant">();
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    // What was not touched is not sent: it may have been changed meanwhile.
    const changed = Object.keys(names)
      .filter(isLimit)
      .map((name) => [name, Number(form.get(name))] as const)
      .filter(([name, value]) => value !== plan[name]);
    if (changed.length > 0)
      mutate({ id: "changeTenant", params: [id], body: { plan: Object.fromEntries(changed) } });
  };
  return (
    <>
      <h2>Plan</h2>
      <form className="plan" aria-label="Plan" onSubmit={submit}>
        {Object.keys(names)
          .filter(isLimit)
          .map((name) => (
            <label key={name}>
              {names[name]}
              <input name={name} type="number" min={0} required defaultValue={plan[name]} />
            </label>
          ))}
        <span>
          <button type="submit" className="primary" disabled={isPending}>
            Change the plan
          </button>
        </span>
      </form>
      <Trouble error={error} />
    </>
  );
}
