import { type Overview } from "@posthaste/client/api";
import { part } from "../../address.ts";
import { useAsked } from "../../api/asked.ts";
import { durationOf } from "../../api/text.ts";
import { Empty } from "../../parts/empty.tsx";
import { Panel } from "../../parts/page.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Short, State } from "../../parts/text.tsx";
import { type Stop, stopsOf } from "../../rules/stops.ts";

const rowsMax = 6;

const columns: readonly Column<Stop>[] = [
  {
    title: "Held by",
    cell: ({ what, name }) => <Short text={`${what} ${name}`} />,
    isLink: true,
  },
  {
    title: "Reason",
    cell: ({ why, isPaused }) => <State tone={isPaused ? "busy" : "calm"}>{why}</State>,
  },
  { title: "Messages", cell: ({ waiting }) => waiting.toLocaleString("en"), isNumber: true },
];

const linkOf = ({ what, name }: Stop): string =>
  what === "queue"
    ? `/queues/${part(name)}`
    : `/flow-keys?${new URLSearchParams({ search: name }).toString()}`;

export function HeldUp({ stands }: { readonly stands: Overview | undefined }) {
  const queues = useAsked({ id: "listQueues" }, { fresh: "often" });
  const keys = useAsked({ id: "listFlowKeys" }, { fresh: "slowly" });
  const stops = queues.data && keys.data && stopsOf(queues.data, keys.data);
  const late =
    stands?.dueSince === undefined
      ? "no message is late"
      : `the oldest message is late by ${durationOf(stands.time - stands.dueSince)}`;
  return (
    <Panel title="Held messages" aside={stands && late}>
      <Table
        caption="Queues and flow keys that hold messages"
        columns={columns}
        rows={stops?.slice(0, rowsMax)}
        keyOf={({ what, name }) => `${what} ${name}`}
        linkOf={linkOf}
        none={<Empty title="No queue or flow key holds messages" />}
      />
    </Panel>
  );
}
