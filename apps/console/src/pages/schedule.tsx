/** One schedule: its times, and what became of the messages of the last. */
import { type Schedule } from "@posthaste/client/api";
import { useLastPart } from "../address.ts";
import { useAsked } from "../api/asked.ts";
import { shown } from "../api/text.ts";
import { Body, ofText } from "../parts/body.tsx";
import { Facts, HeaderList } from "../parts/facts.tsx";
import { Page } from "../parts/page.tsx";
import { MessageId, State, timeOf } from "../parts/text.tsx";
import { Trouble } from "../parts/trouble.tsx";
import { ScheduleActions, ScheduleState } from "./schedule-parts.tsx";

export function SchedulePage() {
  const id = useLastPart();
  const { data, error } = useAsked({ id: "readSchedule", params: [id] }, { fresh: "often" });
  return (
    <Page
      title={`Schedule ${shown(id)}`}
      actions={data && <ScheduleActions schedule={data} removedTo="/schedules" />}
    >
      <Trouble error={error} isStale={data !== undefined} />
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
  return (
    <>
      <Facts
        facts={[
          ["State", <ScheduleState schedule={schedule} />],
          ["Why the last slot failed", shown(schedule.error, 2_000)],
          ["Cron", <code>{shown(schedule.cron)}</code>],
          [
            "To",
            <span className="mono">{`${shown(schedule.method)} ${shown(schedule.destination, 2_000)}`}</span>,
          ],
          ["Last", timeOf(schedule.lastScheduleTime)],
          ["Next", timeOf(schedule.nextScheduleTime)],
          ["Made", timeOf(schedule.createdAt)],
          ["Retries", schedule.retries],
          ["Labels", shown(schedule.labels?.join(", "))],
          ["Queue", shown(schedule.queueName)],
          ["Flow key", shown(schedule.flowControlKey)],
        ]}
      />
      {last.length > 0 && (
        <>
          <h2>Messages of the last slot</h2>
          <ul className="plain">
            {last.map(([messageId, state]) => (
              <li key={messageId}>
                <MessageId id={messageId} /> {slotStates[state]}
              </li>
            ))}
          </ul>
        </>
      )}
      <h2>Request</h2>
      <Body title="Body" body={ofText(schedule.body, schedule.bodyBase64, Infinity)} />
      <h3 className="muted">Headers</h3>
      <HeaderList headers={schedule.header} />
    </>
  );
}
