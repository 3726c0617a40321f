/** Failing destinations: the error, since when, and what became of the messages. */
import { useAsked, useWork } from "../../api/asked.ts";
import { call } from "../../api/call.ts";
import { decoded } from "../../api/text.ts";
import { Empty } from "../../parts/empty.tsx";
import { Panel } from "../../parts/page.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Age, Short } from "../../parts/text.tsx";
import { perCallMax, walk } from "../../rules/bulk.ts";
import { type Failing, failingOf } from "../../rules/failing.ts";
import { groupsOf, type LetterGroup, lettersIn } from "../../rules/letters.ts";
import { type Range } from "../../rules/rates.ts";

const withoutScheme = (place: string): string => place.replace(/^https?:\/\//, "");
const rowsMax = 6;
const eventsMax = 1_000;
const answerBytesMax = 160;

const failingColumns: readonly Column<Failing>[] = [
  {
    title: "Destination",
    cell: ({ place }) => <Short text={withoutScheme(place)} />,
    isLink: true,
  },
  { title: "Failed", cell: ({ count }) => count.toLocaleString("en"), isNumber: true },
  { title: "Since", cell: ({ since }) => <Age at={since} /> },
  { title: "Last answer", cell: ({ last }) => <Short text={answerOf(last)} /> },
];

function answerOf({ responseStatus, error, responseBody }: Failing["last"]): string {
  const body = responseBody === undefined ? undefined : decoded(responseBody);
  return [
    responseStatus === undefined ? error : `status ${responseStatus}`,
    body?.isBinary === false ? body.text : undefined,
  ]
    .filter((each) => each !== undefined)
    .join(": ");
}

type Props = { readonly since: number; readonly range: Range };

export function FailingDestinations({ since, range }: Props) {
  const query = { state: "ERROR", fromDate: since, count: eventsMax, trimBody: answerBytesMax };
  const { data } = useAsked({ id: "listEvents", query }, { fresh: "slowly" });
  const failing = data && failingOf(data.events);
  const fromDate = new Date(since).toISOString().slice(0, 16);
  const linkOf = ({ last, isOneUrl }: Failing): string => {
    const { host = "" } = URL.parse(last.url) ?? {};
    const where = isOneUrl || host === "" ? { url: last.url } : { host };
    return `/messages?${new URLSearchParams({ ...where, state: "ERROR", fromDate }).toString()}`;
  };
  return (
    <Panel
      title="Failing destinations"
      aside={
        data?.cursor === undefined
          ? range.words
          : `of the latest ${eventsMax.toLocaleString("en")} failed attempts`
      }
    >
      <Table
        caption={`Destinations that failed in ${range.words}`}
        columns={failingColumns}
        rows={failing?.slice(0, rowsMax)}
        keyOf={({ place }) => place}
        linkOf={linkOf}
        none={<Empty title="No failed attempts" />}
      />
    </Panel>
  );
}

const letterColumns: readonly Column<LetterGroup>[] = [
  {
    title: "Destination",
    cell: ({ place }) => <Short text={withoutScheme(place)} />,
    isLink: true,
  },
  { title: "Reason", cell: ({ reason }) => <Short text={reason} /> },
  { title: "Dead letters", cell: ({ count }) => count.toLocaleString("en"), isNumber: true },
  { title: "Latest", cell: ({ last }) => <Age at={last} /> },
];

const pagesMax = 5;

export function LettersByReason() {
  const { data } = useWork(
    ["letters by reason"],
    (session, signal) =>
      walk(
        async (cursor) => {
          const query = { count: perCallMax, order: "latestFirst", trimBody: 0 };
          const paged = { ...query, ...(cursor !== undefined && { cursor }) };
          const page = await call(session, { id: "listDeadLetters", query: paged }, signal);
          return { items: lettersIn(page) ?? [], cursor: page.cursor };
        },
        () => true,
        { pages: pagesMax, found: Infinity },
      ),
    { fresh: "slowly" },
  );
  const linkOf = ({ letter }: LetterGroup): string => {
    const { host = "" } = URL.parse(letter.url) ?? {};
    const where = host === "" ? { url: letter.url } : { host };
    const status = { responseStatus: String(letter.responseStatus) };
    return `/dead-letters?${new URLSearchParams({ ...where, ...status }).toString()}`;
  };
  return (
    <Panel
      title="Dead letters by destination and reason"
      aside={data?.cursor === undefined ? "" : `of the newest ${data.looked}`}
    >
      <Table
        caption="Dead letters by destination and reason"
        columns={letterColumns}
        rows={data && groupsOf(data.found).slice(0, rowsMax)}
        keyOf={({ place, reason }) => `${place} ${reason}`}
        linkOf={linkOf}
        none={<Empty title="No dead letters" />}
      />
    </Panel>
  );
}
