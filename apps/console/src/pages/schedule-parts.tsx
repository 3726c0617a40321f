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

type ActionsProps = {
  readonly schedule: Schedule;
  readonly isSmall?: boolean;
  readonly removedTo?: string;
};

export function ScheduleActions({ schedule, isSmall = false, removedTo }: ActionsProps) {
  const { scheduleId, isPaused } = schedule;
  const params = [scheduleId] as const;
  return (
    <>
      <Action
        does={isPaused ? "Resume" : "Pause"}
        to={scheduleId}
        asked={{ id: isPaused ? "resumeSchedule" : "pauseSchedule", params }}
        isSmall={isSmall}
      />
      <Action
        does="Remove"
        to={scheduleId}
        asked={{ id: "removeSchedule", params }}
        isFinal
        isSmall={isSmall}
        {...(removedTo !== undefined && { leaveTo: () => removedTo })}
      />
    </>
  );
}
