/** Schedules: when each fires next, and whether it does. */
import { type Schedule } from "@posthaste/client/api";
import { useSearch } from "../address.ts";
import { useAskedWhole } from "../api/asked.ts";
import { useSession } from "../api/session.ts";
import { shown } from "../api/text.ts";
import { Page } from "../parts/page.tsx";
import { PagesOf } from "../parts/pages-of.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { Id, Short, Time } from "../parts/text.tsx";
import { Trouble } from "../parts/trouble.tsx";
import { ScheduleActions, ScheduleState } from "./schedule-parts.tsx";

const rowsMax = 100;

const columns: readonly Column<Schedule>[] = [
  { title: "Schedule", cell: ({ scheduleId }) => <Id to="/schedules" id={scheduleId} /> },
  { title: "State", cell: (schedule) => <ScheduleState schedule={schedule} /> },
  { title: "Cron", cell: ({ cron }) => <code>{shown(cron)}</code> },
  { title: "To", cell: ({ destination }) => <Short text={destination} /> },
  { title: "Last", cell: ({ lastScheduleTime }) => <Time at={lastScheduleTime} /> },
  { title: "Next", cell: ({ nextScheduleTime }) => <Time at={nextScheduleTime} /> },
];
const actions: Column<Schedule> = {
  title: "Actions",
  cell: (schedule) => <ScheduleActions schedule={schedule} />,
};

const keyOf = ({ scheduleId }: Schedule): string => scheduleId;

export function Schedules() {
  const { mayWrite } = useSession();
  const [search] = useSearch();
  const cursor = search.get("cursor");
  const query = { count: rowsMax, ...(cursor !== null && { cursor }) };
  const { data, error } = useAskedWhole({ id: "listSchedules", query }, { fresh: "often" });
  return (
    <Page title="Schedules">
      <Trouble error={error} isStale={data !== undefined} />
      <Table
        key={search.toString()}
        caption="Schedules, oldest first"
        columns={mayWrite ? [...columns, actions] : columns}
        rows={data?.answer}
        keyOf={keyOf}
        none="none"
      />
      <PagesOf cursor={data?.nextCursor} />
    </Page>
  );
}
