import { useAsked, useWork } from "../api/asked.ts";
import { call } from "../api/call.ts";
import { durationOf } from "../api/text.ts";
import { Empty } from "../parts/empty.tsx";
import { Facts } from "../parts/facts.tsx";
import { Inside, Page, Panel } from "../parts/page.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { State } from "../parts/text.tsx";
import { Trouble } from "../parts/trouble.tsx";
import { byNearness, isNear, shareOf, type Used } from "../rules/limits.ts";
import { useSchedules } from "./schedules.tsx";

const dayMs = 86_400_000;
/** A plan's highest value means no limit. */
const perDayHighest = 1_000_000_000;
const callsHighest = 1_000_000;
const capOf = (most: number, highest: number): number => (most >= highest ? Infinity : most);
const percentOf = (used: Used): string => `${Math.round(100 * shareOf(used))}%`;

const columns: readonly Column<Used>[] = [
  { title: "Limit", cell: ({ name }) => name },
  { title: "Used", cell: ({ used }) => used.toLocaleString("en"), isNumber: true },
  {
    title: "Maximum",
    cell: ({ most }) => (most === Infinity ? "no limit" : most.toLocaleString("en")),
    isNumber: true,
  },
  {
    title: "Share",
    cell: (used) =>
      used.most !== Infinity && (
        <>
          <span className={isNear(used) ? "meter near" : "meter"}>
            <span style={{ width: percentOf(used) }} />
          </span>
          {isNear(used) ? <State tone="bad">{percentOf(used)}</State> : percentOf(used)}
        </>
      ),
  },
  { title: "Setting of the plan", cell: ({ setting }) => <code>{setting}</code> },
];

export function Limits() {
  const me = useAsked({ id: "readMe" }, { fresh: "slowly" });
  const stands = useAsked({ id: "readOverview" }, { fresh: "often" });
  const queues = useAsked({ id: "listQueues" }, { fresh: "often" });
  const groups = useAsked({ id: "listGroups" }, { fresh: "slowly" });
  const calls = useAsked({ id: "readGlobalParallelism" }, { fresh: "often" });
  const schedules = useSchedules();
  const day = useWork(
    ["counts of a day"],
    async (session, signal) => {
      const fromDate = Date.now() - dayMs;
      const { minutes } = await call(session, { id: "listCounts", query: { fromDate } }, signal);
      return minutes.reduce((sum, { counts }) => sum + (counts.CREATED ?? 0), 0);
    },
    { fresh: "slowly" },
  );
  const plan = me.data?.plan;
  const isKnown =
    plan !== undefined && stands.data && queues.data && groups.data && calls.data && schedules.data;
  const rows = isKnown && [
    {
      name: "Messages in the last 24 hours",
      used: day.data ?? 0,
      most: capOf(plan.messagesPerDayMax, perDayHighest),
      setting: "messagesPerDayMax",
    },
    {
      name: "Unfinished messages",
      used: stands.data.backlog,
      most: plan.backlogMax,
      setting: "backlogMax",
    },
    {
      name: "Calls under way",
      used: calls.data.parallelismCount,
      most: capOf(calls.data.parallelismMax, callsHighest),
      setting: "parallelismMax",
    },
    { name: "Queues", used: queues.data.length, most: plan.queuesMax, setting: "queuesMax" },
    {
      name: "Schedules",
      used: schedules.data.found.length,
      most: plan.schedulesMax,
      setting: "schedulesMax",
    },
    { name: "Groups", used: groups.data.length, most: plan.groupsMax, setting: "groupsMax" },
  ];
  return (
    <Page title="Limits">
      <Trouble error={me.error ?? stands.error ?? calls.error} />
      <Table
        caption="Limits of the plan, the closest to their maximum first"
        columns={columns}
        rows={rows ? byNearness(rows) : undefined}
        keyOf={({ setting }) => setting}
        none={<Empty title="No limits" />}
      />
      {plan !== undefined && (
        <Panel title="Other settings of the plan">
          <Inside>
            <Facts
              facts={[
                ["Log retention", durationOf(plan.logMs)],
                ["Retention of ended messages' bodies", durationOf(plan.keepBodiesMs)],
                ["Dead letter retention", durationOf(plan.deadLetterMs)],
                ["Maximum retries", plan.retriesMax],
                ["Maximum delay", durationOf(plan.delayMsMax)],
                ["Maximum time-out", durationOf(plan.timeoutMsMax)],
                ["Maximum body", `${plan.bodyBytesMax.toLocaleString("en")} bytes`],
                ["Kept part of an answer", `${plan.responseBytesMax.toLocaleString("en")} bytes`],
              ]}
            />
          </Inside>
        </Panel>
      )}
    </Page>
  );
}
