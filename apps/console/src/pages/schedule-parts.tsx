/** What the list of schedules and the page of one have in common. */
import { type Schedule } from "@posthaste/client/api";
import { Action } from "../parts/action.tsx";
import { State } from "../parts/text.tsx";

export function ScheduleState({ schedule }: { readonly schedule: Schedule }) {
  if (schedule.isPaused) return <State tone="busy">paused</State>;
  return schedule.error === undefined ? (
    <State tone="good">active</State>
  ) : (
    <State tone="bad">last slot failed</State>
  );
}

type ActionsProps = { readonly schedule: Schedule; readonly removedTo?: string };

export function ScheduleActions({ schedule: { scheduleId, isPaused }, removedTo }: ActionsProps) {
  const params = [scheduleId] as const;
  return (
    <>
      {isPaused ? (
        <Action does="Resume" to={scheduleId} asked={{ id: "resumeSchedule", params }} />
      ) : (
        <Action does="Pause" to={scheduleId} asked={{ id: "pauseSchedule", params }} />
      )}
      <Action
        does="Remove"
        to={scheduleId}
        asked={{ id: "removeSchedule", params }}
        isFinal
        {...(removedTo !== undefined && { leaveTo: () => removedTo })}
      />
    </>
  );
}
