/** Schedules, queues and flow keys: what may be paused and resumed. */
import { type FlowKey, type Queue, type Schedule } from "@posthaste/client/api";
import { type AnyAsked, type Refused, textOf, timeOf } from "./api.ts";
import { Action, type Column, Table, Trouble } from "./table.tsx";
import { useAsked, useSession } from "./session.tsx";

const schedules: readonly Column<Schedule>[] = [
  ["Schedule", ({ scheduleId }) => textOf(scheduleId)],
  ["Cron", ({ cron }) => textOf(cron)],
  ["To", ({ destination }) => textOf(destination, 200)],
  ["Next (UTC)", ({ nextScheduleTime }) => timeOf(nextScheduleTime)],
];
const queues: readonly Column<Queue>[] = [
  ["Queue", ({ name }) => textOf(name)],
  ["Parallelism", ({ parallelism }) => textOf(parallelism)],
  ["Lag", ({ lag }) => textOf(lag)],
];
const flowKeys: readonly Column<FlowKey>[] = [
  ["Key", ({ flowControlKey }) => textOf(flowControlKey)],
  ["Waiting", ({ waitListSize }) => textOf(waitListSize)],
  [
    "Parallelism",
    ({ parallelismCount, parallelismMax }) =>
      `${textOf(parallelismCount)} of ${textOf(parallelismMax)}`,
  ],
  ["Rate", ({ rateCount, rateMax }) => `${textOf(rateCount)} of ${textOf(rateMax)}`],
];

export const Schedules = () => (
  <Lines
    title="Schedules"
    asked={useAsked({ id: "listSchedules" })}
    columns={schedules}
    isPaused={({ isPaused }) => isPaused}
    pause={({ scheduleId }) => ({ id: "pauseSchedule", params: [scheduleId] })}
    resume={({ scheduleId }) => ({ id: "resumeSchedule", params: [scheduleId] })}
  />
);
export const Queues = () => (
  <Lines
    title="Queues"
    asked={useAsked({ id: "listQueues" })}
    columns={queues}
    isPaused={({ paused }) => paused}
    pause={({ name }) => ({ id: "pauseQueue", params: [name] })}
    resume={({ name }) => ({ id: "resumeQueue", params: [name] })}
  />
);
export const FlowKeys = () => (
  <Lines
    title="Flow keys"
    asked={useAsked({ id: "listFlowKeys" })}
    columns={flowKeys}
    isPaused={({ isPaused }) => isPaused}
    pause={({ flowControlKey }) => ({ id: "pauseFlowKey", params: [flowControlKey] })}
    resume={({ flowControlKey }) => ({ id: "resumeFlowKey", params: [flowControlKey] })}
  />
);

type LinesProps<Row> = {
  readonly title: string;
  readonly asked: { readonly data: readonly Row[] | undefined; readonly error: Refused | null };
  readonly columns: readonly Column<Row>[];
  readonly isPaused: (row: Row) => boolean;
  readonly pause: (row: Row) => AnyAsked;
  readonly resume: (row: Row) => AnyAsked;
};

function Lines<Row>({ title, asked, columns, isPaused, pause, resume }: LinesProps<Row>) {
  const { mayWrite } = useSession();
  const { data = [], error } = asked;
  const state: Column<Row> = ["State", (row) => (isPaused(row) ? "paused" : "active")];
  const actions: Column<Row> = [
    "Actions",
    (row) =>
      isPaused(row) ? (
        <Action name="Resume" asked={resume(row)} />
      ) : (
        <Action name="Pause" asked={pause(row)} />
      ),
  ];
  const all = [...columns, state, ...(mayWrite ? [actions] : [])];
  return (
    <>
      <h1>{title}</h1>
      <Trouble error={error} />
      <Table caption={title} columns={all} rows={data} />
    </>
  );
}
