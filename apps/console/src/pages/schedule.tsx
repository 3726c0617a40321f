import { type Schedule } from "@posthaste/client/api";
import { part, useLastPart } from "../address.ts";
import { useAsked } from "../api/asked.ts";
import { useSession } from "../api/session.ts";
import { shown } from "../api/text.ts";
import { apiBase } from "../api/call.ts";
import { Body, ofText } from "../parts/body.tsx";
import { CopyButton } from "../parts/copy.tsx";
import { Cron } from "../parts/cron.tsx";
import { Facts, HeaderList } from "../parts/facts.tsx";
import { Inside, Page, Panel } from "../parts/page.tsx";
import { Filtered, Id, Labels, MessageId, State, timeOf } from "../parts/text.tsx";
import { Trouble } from "../parts/trouble.tsx";
import { againAsCurl, publicationOf } from "../rules/publication.ts";
import { Reason } from "./reason.tsx";
import { ScheduleActions, ScheduleState } from "./schedule-parts.tsx";

export function SchedulePage() {
  const id = useLastPart();
  const { mayWrite } = useSession();
  const { data, error } = useAsked({ id: "readSchedule", params: [id] }, { fresh: "often" });
  return (
    <Page
      title="Schedule"
      id={id}
      state={data && <ScheduleState schedule={data} />}
      actions={
        data && (
          <>
            {mayWrite && (
              <a className="button" href={`#/schedule?schedule=${part(id)}`}>
                Edit…
              </a>
            )}
            <ScheduleActions schedule={data} removedTo="/schedules" />
          </>
        )
      }
    >
      <Trouble error={error} />
      {data !== undefined && <Details schedule={data} />}
    </Page>
  );
}

const slotStates = {
  IN_PROGRESS: <State tone="busy">under way</State>,
  SUCCESS: <State tone="good">delivered</State>,
  FAIL: <State tone="bad">failed</State>,
} as const;

function Details({ schedule }: { readonly schedule: Schedule }) {
  const last = Object.entries(schedule.lastScheduleStates ?? {});
  const { flowControlKey, labels, queueName } = schedule;
  const body = ofText(schedule.body, schedule.bodyBase64, Infinity);
  const made = publicationOf(schedule, body);
  const curl = againAsCurl(made, apiBase(), "schedules");
  return (
    <>
      {schedule.error !== undefined && (
        <Reason
          what="The last slot made no message"
          status={undefined}
          error={schedule.error}
          answer={undefined}
        />
      )}
      <div className="columns">
        <div className="stack">
          <Panel title="Schedule">
            <Inside>
              <Facts
                facts={[
                  ["Fires", <Cron cron={schedule.cron} />],
                  ["Next", timeOf(schedule.nextScheduleTime)],
                  ["Latest", timeOf(schedule.lastScheduleTime)],
                  [
                    "Destination",
                    <span className="mono">{`${shown(schedule.method)} ${shown(schedule.destination, 2_000)}`}</span>,
                  ],
                  ["Created", timeOf(schedule.createdAt)],
                  ["Retries", schedule.retries],
                  ["Labels", labels && <Labels to="/messages" labels={labels} />],
                  ["Queue", queueName !== undefined && <Id to="/queues" id={queueName} />],
                  [
                    "Flow key",
                    flowControlKey !== undefined && (
                      <Filtered to="/flow-keys" by="search" text={flowControlKey} />
                    ),
                  ],
                  [
                    "Messages",
                    <Filtered to="/messages" by="scheduleId" text={schedule.scheduleId}>
                      all messages of this schedule
                    </Filtered>,
                  ],
                ]}
              />
            </Inside>
          </Panel>
          {last.length > 0 && (
            <Panel title="Messages of the last slot">
              <Inside>
                <ul className="stack">
                  {last.map(([messageId, state]) => (
                    <li key={messageId} className="buttons">
                      {slotStates[state]} <MessageId id={messageId} />
                    </li>
                  ))}
                </ul>
              </Inside>
            </Panel>
          )}
        </div>
        <Panel
          title="Request"
          aside={<CopyButton text={curl} name="Copy as curl" label="Copy as curl" />}
        >
          <Inside>
            <Body title="Body" body={body} />
            <div>
              <h3 className="muted">Headers</h3>
              <HeaderList headers={schedule.header} />
            </div>
          </Inside>
        </Panel>
      </div>
    </>
  );
}
