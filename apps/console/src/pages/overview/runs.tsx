/** Failed runs, runs that wait for an event, and the next schedules. */
import { type Run, type Schedule } from "@posthaste/client/api";
import { part } from "../../address.ts";
import { useAsked } from "../../api/asked.ts";
import { shown } from "../../api/text.ts";
import { wordsOfCron } from "../../parts/cron.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Panel } from "../../parts/page.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Age, Short, Time } from "../../parts/text.tsx";
import { errorWordsOf } from "../../rules/attempt-error.ts";
import { failedRow, type StepRow, waitingRows, waterfallOf } from "../../rules/waterfall.ts";
import { useSchedules } from "../schedules.tsx";

const rowsMax = 5;
const answerBytesMax = 500;
const runsMax = 100;

const keyOf = (run: Run): string => `${run.workflowRunId} ${run.workflowRunCreatedAt}`;
const runPage = ({ workflowRunId }: Run): string => `/runs/${part(workflowRunId)}`;
const failureOf = (run: Run): StepRow | undefined => failedRow(waterfallOf(run, 0));

const errorOf = (run: Run): string => {
  const error = failureOf(run)?.lastError;
  return error === undefined ? "" : errorWordsOf(error);
};

const failedColumns: readonly Column<Run>[] = [
  { title: "Run", cell: ({ workflowRunId }) => <Short text={workflowRunId} />, isLink: true },
  { title: "Step", cell: (run) => <Short text={failureOf(run)?.name} /> },
  { title: "Error", cell: (run) => <Short text={errorOf(run)} /> },
  { title: "Failed", cell: ({ workflowRunCompletedAt }) => <Age at={workflowRunCompletedAt} /> },
];

export function FailedRuns() {
  const query = { state: "RUN_FAILED", count: rowsMax, trimBody: answerBytesMax };
  const { data } = useAsked({ id: "listRunLogs", query }, { fresh: "slowly" });
  return (
    <Panel title="Failed runs" aside={<a href="#/runs?state=RUN_FAILED">All</a>}>
      <Table
        caption="Failed runs, newest first"
        columns={failedColumns}
        rows={data?.runs}
        keyOf={keyOf}
        linkOf={runPage}
        none={<Empty title="No failed runs" />}
      />
    </Panel>
  );
}

type Waiting = { readonly run: Run; readonly row: StepRow };

const waitingColumns: readonly Column<Waiting>[] = [
  { title: "Run", cell: ({ run }) => <Short text={run.workflowRunId} />, isLink: true },
  { title: "Event", cell: ({ row }) => <Short text={row.step.waitEventId} /> },
  { title: "Times out", cell: ({ row }) => <Age at={row.step.waitTimeoutDeadline} /> },
];

export function WaitsForAnEvent() {
  const query = { state: "RUN_STARTED", count: runsMax, trimBody: 0 };
  const { data } = useAsked({ id: "listRunLogs", query }, { fresh: "slowly" });
  const rows = data?.runs.flatMap((run) =>
    waitingRows(waterfallOf(run, 0)).map((row): Waiting => ({ run, row })),
  );
  return (
    <Panel
      title="Runs that wait for an event"
      aside={data?.cursor === "" ? "" : `of the newest ${runsMax} active runs`}
    >
      <Table
        caption="Runs that wait for an event"
        columns={waitingColumns}
        rows={rows?.slice(0, rowsMax)}
        keyOf={({ run, row }) => `${keyOf(run)} ${row.key}`}
        linkOf={({ run }) => runPage(run)}
        none={<Empty title="No run waits for an event" />}
      />
    </Panel>
  );
}

const scheduleColumns: readonly Column<Schedule>[] = [
  {
    title: "At",
    cell: ({ nextScheduleTime }) => <Time at={nextScheduleTime} />,
  },
  {
    title: "Schedule",
    cell: ({ scheduleId }) => <Short text={shown(scheduleId)} />,
    isLink: true,
  },
  { title: "Fires", cell: ({ cron }) => <Short text={wordsOfCron(cron)} /> },
];

export function FiresNext() {
  const { data } = useSchedules();
  const next = data?.found
    .filter(({ nextScheduleTime, isPaused }) => nextScheduleTime !== undefined && !isPaused)
    .toSorted((a, b) => (a.nextScheduleTime ?? 0) - (b.nextScheduleTime ?? 0));
  return (
    <Panel title="Next schedules" aside={<a href="#/schedules">All schedules</a>}>
      <Table
        caption="Schedules by their next time"
        columns={scheduleColumns}
        rows={next?.slice(0, rowsMax)}
        keyOf={({ scheduleId }) => scheduleId}
        linkOf={({ scheduleId }) => `/schedules/${part(scheduleId)}`}
        none={<Empty title="No schedule is active" />}
      />
    </Panel>
  );
}
