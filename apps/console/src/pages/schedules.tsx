/** Schedules: failing ones first, then in the order of their next time. */
import { type Schedule } from "@posthaste/client/api";
import { part, useSearch } from "../address.ts";
import { useWork } from "../api/asked.ts";
import { callWhole } from "../api/call.ts";
import { useSession } from "../api/session.ts";
import { shown } from "../api/text.ts";
import { postAsCurl } from "../parts/copy.tsx";
import { Cron } from "../parts/cron.tsx";
import { Empty } from "../parts/empty.tsx";
import { Page } from "../parts/page.tsx";
import { PagesOf, useSlice } from "../parts/pages-of.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { Age, Short, Time } from "../parts/text.tsx";
import { Trouble } from "../parts/trouble.tsx";
import { walk } from "../rules/bulk.ts";
import { ScheduleActions, ScheduleState } from "./schedule-parts.tsx";

const rowsMax = 100;
const perCallMax = 1_000;
/** Ten thousand schedules are sorted. */
const pagesMax = 10;

const columns: readonly Column<Schedule>[] = [
  { title: "State", cell: (schedule) => <ScheduleState schedule={schedule} /> },
  { title: "Schedule", cell: ({ scheduleId }) => <Short text={scheduleId} />, isLink: true },
  { title: "Fires", cell: ({ cron }) => <Cron cron={cron} /> },
  { title: "Destination", cell: ({ destination }) => <Short text={destination} /> },
  {
    title: "Next",
    cell: ({ nextScheduleTime }) =>
      nextScheduleTime !== undefined && (
        <>
          <Time at={nextScheduleTime} />{" "}
          <span className="muted">
            <Age at={nextScheduleTime} />
          </span>
        </>
      ),
  },
  { title: "Latest", cell: ({ lastScheduleTime }) => <Age at={lastScheduleTime} /> },
];

const keyOf = ({ scheduleId }: Schedule): string => scheduleId;
const linkOf = ({ scheduleId }: Schedule): string => `/schedules/${part(scheduleId)}`;

export function Schedules() {
  const { mayAct, mayWrite } = useSession();
  const [search] = useSearch();
  const { data, error } = useSchedules();
  const { rows, cursor } = useSlice(data?.found, rowsMax);
  return (
    <Page
      title="Schedules"
      actions={
        mayWrite && (
          <a className="button primary" href="#/schedule">
            New schedule
          </a>
        )
      }
    >
      <Trouble error={error} />
      <div>
        <Table
          key={search.toString()}
          caption="Schedules, failing ones first, then by their next time"
          columns={columns}
          rows={rows}
          error={error}
          keyOf={keyOf}
          linkOf={linkOf}
          actions={
            mayAct && ((schedule: Schedule) => <ScheduleActions schedule={schedule} isSmall />)
          }
          none={<NoneYet />}
        />
        {data?.cursor !== undefined && (
          <p className="muted">Found among the {shown(data.looked)} oldest schedules.</p>
        )}
        <PagesOf cursor={cursor} />
      </div>
    </Page>
  );
}

export function useSchedules() {
  return useWork(
    ["schedules"],
    async (session, signal) => {
      const all = await walk(
        async (cursor) => {
          const query = { count: perCallMax, ...(cursor !== undefined && { cursor }) };
          const page = await callWhole(session, { id: "listSchedules", query }, signal);
          return { items: page.answer, cursor: page.nextCursor };
        },
        () => true,
        { pages: pagesMax, found: Infinity },
      );
      return { ...all, found: all.found.toSorted((a, b) => placeOf(a) - placeOf(b)) };
    },
    { fresh: "slowly" },
  );
}

/** A paused schedule has no next time. */
const placeOf = ({ error, isPaused, nextScheduleTime = Infinity }: Schedule): number => {
  if (isPaused) return Number.MAX_SAFE_INTEGER;
  return error === undefined ? Math.min(nextScheduleTime, Number.MAX_SAFE_INTEGER) : 0;
};

const NoneYet = () => (
  <Empty
    title="No schedules yet"
    curl={postAsCurl("schedules/https://example.com/report", {
      headers: [
        ["Service-Cron", "0 9 * * *"],
        ["Service-Schedule-Id", "daily-report"],
      ],
    })}
  >
    Create a schedule that fires each day at nine:
  </Empty>
);
