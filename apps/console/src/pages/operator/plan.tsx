/** A tenant's plan, whose limits are changed together. */
import { type Tenant } from "@posthaste/client/api";
import { useChange } from "../../api/asked.ts";
import { useSession } from "../../api/session.ts";
import { FaultyForm, type Input, Inputs } from "../../parts/fields.tsx";
import { Inside, Panel } from "../../parts/page.tsx";

type Limit = keyof Tenant["plan"];

const names = {
  retriesDefault: "Default retries",
  retriesMax: "Maximum retries",
  delayMsMax: "Maximum delay, ms",
  timeoutMsDefault: "Default time-out, ms",
  timeoutMsMax: "Maximum time-out, ms",
  bodyBytesMax: "Maximum body, bytes",
  batchBytesMax: "Maximum batch, bytes",
  responseBytesMax: "Kept part of an answer, bytes",
  groupEndpointsMax: "Endpoints of a group",
  groupsMax: "URL groups",
  queuesMax: "Queues",
  queueParallelismMax: "Parallelism of a queue",
  schedulesMax: "Schedules",
  parallelismMax: "Calls at once",
  messagesPerDayMax: "Messages per day",
  listsPerSecondMax: "Lists per second",
  logMs: "Log retention, ms",
  keepBodiesMs: "Body retention, ms",
  deadLetterMs: "Dead letter retention, ms",
  backlogMax: "Backlog",
} as const satisfies Readonly<Record<Limit, string>>;

const isLimit = (name: string): name is Limit => name in names;

export function Plan({ tenant: { id, plan } }: { readonly tenant: Tenant }) {
  const { mayWrite } = useSession();
  const { mutate, isPending, error } = useChange<"changeTenant">();
  const submit = (form: FormData): void => {
    // Sends only changed fields: others may have been changed meanwhile.
    const changed = Object.keys(names)
      .filter(isLimit)
      .map((name) => [name, Number(form.get(name))] as const)
      .filter(([name, value]) => value !== plan[name]);
    if (mayWrite && changed.length > 0)
      mutate({ id: "changeTenant", params: [id], body: { plan: Object.fromEntries(changed) } });
  };
  const inputs = Object.keys(names)
    .filter(isLimit)
    .map((name): Input => ({
      name,
      label: names[name],
      kind: "number",
      isRequired: true,
      initial: plan[name],
    }));
  return (
    <Panel title="Plan">
      <Inside>
        <FaultyForm name="Plan" inputs={inputs} error={error} onGiven={submit}>
          <div className="fields">
            <Inputs inputs={inputs} />
          </div>
          {mayWrite && (
            <div className="buttons">
              <button type="submit" className="primary" disabled={isPending}>
                Save plan
              </button>
            </div>
          )}
        </FaultyForm>
      </Inside>
    </Panel>
  );
}
