/** Schedules, queues and flow keys: what may be paused and resumed. */
import { rowsOf, textOf, timeOf } from "./api.ts";
import { Action, type Column, Table, Trouble } from "./table.tsx";
import { useAsked, useSession } from "./session.tsx";

type Kind = {
  readonly title: string;
  readonly path: string;
  readonly id: string;
  readonly paused: string;
  readonly columns: readonly Column[];
};

const schedules: Kind = {
  title: "Schedules",
  path: "v2/schedules",
  id: "scheduleId",
  paused: "isPaused",
  columns: [
    ["Schedule", ({ scheduleId }) => textOf(scheduleId)],
    ["Cron", ({ cron }) => textOf(cron)],
    ["To", ({ destination }) => textOf(destination, 200)],
    ["Next (UTC)", ({ nextScheduleTime }) => timeOf(nextScheduleTime)],
  ],
};
const queues: Kind = {
  title: "Queues",
  path: "v2/queues",
  id: "name",
  paused: "paused",
  columns: [
    ["Queue", ({ name }) => textOf(name)],
    ["Parallelism", ({ parallelism }) => textOf(parallelism)],
    ["Lag", ({ lag }) => textOf(lag)],
  ],
};
const flowKeys: Kind = {
  title: "Flow keys",
  path: "v2/flowControl",
  id: "flowControlKey",
  paused: "isPaused",
  columns: [
    ["Key", ({ flowControlKey }) => textOf(flowControlKey)],
    ["Waiting", ({ waitListSize }) => textOf(waitListSize)],
    [
      "Parallelism",
      (row) => `${textOf(row["parallelismCount"])} of ${textOf(row["parallelismMax"])}`,
    ],
    ["Rate", ({ rateCount, rateMax }) => `${textOf(rateCount)} of ${textOf(rateMax)}`],
  ],
};

export const Schedules = () => <Lines kind={schedules} />;
export const Queues = () => <Lines kind={queues} />;
export const FlowKeys = () => <Lines kind={flowKeys} />;

function Lines({ kind: { title, path, id, paused, columns } }: { readonly kind: Kind }) {
  const { mayWrite } = useSession();
  const { data, error } = useAsked(path);
  const state: Column = ["State", (row) => (row[paused] === true ? "paused" : "active")];
  const actions: Column = [
    "Actions",
    (row) => {
      const name = row[paused] === true ? "resume" : "pause";
      const item = `${path}/${encodeURIComponent(String(row[id]))}`;
      return (
        <Action
          name={name === "pause" ? "Pause" : "Resume"}
          method="POST"
          path={`${item}/${name}`}
        />
      );
    },
  ];
  const all = [...columns, state, ...(mayWrite ? [actions] : [])];
  return (
    <>
      <h1>{title}</h1>
      <Trouble error={error} />
      <Table caption={title} columns={all} rows={rowsOf(data)} />
    </>
  );
}
