/** The first page of an on-call engineer: failures, messages that are held up, and waits for an event. */
import { type Overview as Standing } from "@posthaste/client/api";
import { useSearch } from "../address.ts";
import { useAsked, useWork } from "../api/asked.ts";
import { call } from "../api/call.ts";
import { durationOf } from "../api/text.ts";
import { Chart } from "../parts/chart.tsx";
import { useNow } from "../parts/now.ts";
import { Inside, Page, Panel } from "../parts/page.tsx";
import { Quick } from "../parts/quick.tsx";
import { Trouble } from "../parts/trouble.tsx";
import { latencyOf } from "../rules/failing.ts";
import { daysOf, type RangeName, ranges, ratesOf, type Rates } from "../rules/rates.ts";
import { FailingDestinations, LettersByReason } from "./overview/failing.tsx";
import { HeldUp } from "./overview/held-up.tsx";
import { FailedRuns, FiresNext, WaitsForAnEvent } from "./overview/runs.tsx";

/** The bound up to which dead letters are counted. */
const lettersMax = 10_000;
const choices = [
  ["", "1 h"],
  ["24h", "24 h"],
  ["7d", "7 d"],
] as const;

const isRange = (name: string): name is RangeName => name in ranges;

export function Overview() {
  const [search] = useSearch();
  const name = search.get("range") ?? "";
  const range = ranges[isRange(name) ? name : "1h"];
  const now = useNow();
  const days = daysOf(now, range);
  const counts = useWork(
    ["counts", days],
    async (session, signal) => {
      const all = days.map(({ from: fromDate, to: toDate }) =>
        call(session, { id: "listCounts", query: { fromDate, toDate } }, signal),
      );
      return (await Promise.all(all)).flatMap(({ minutes }) => minutes);
    },
    // Counts are stored a moment after the events in the log.
    { fresh: range === ranges["1h"] ? "often" : "slowly" },
  );
  const stands = useAsked({ id: "readOverview" }, { fresh: "often" });
  const time = stands.data?.time ?? now;
  const rates = ratesOf(counts.data ?? [], time, range);
  // The start of a bar, so that the same question is asked again.
  const since = rates.bars[0]?.time ?? 0;
  return (
    <Page title="Overview" actions={<Quick name="range" label="Span" choices={choices} />}>
      <Trouble error={stands.error ?? counts.error} />
      <Figures
        stands={stands.data}
        sums={counts.data === undefined ? undefined : rates.sums}
        since={since}
      />
      <Panel title={`Attempts in ${range.words}`} aside={<Latency since={since} />}>
        <Inside>
          <Chart rates={rates} range={range} />
        </Inside>
      </Panel>
      <div className="columns">
        <FailingDestinations since={since} range={range} />
        <LettersByReason />
      </div>
      <div className="columns">
        <HeldUp stands={stands.data} />
        <WaitsForAnEvent />
      </div>
      <div className="columns">
        <FailedRuns />
        <FiresNext />
      </div>
    </Page>
  );
}

type FiguresProps = {
  readonly stands: Standing | undefined;
  readonly sums: Rates["sums"] | undefined;
  readonly since: number;
};

function Figures({ stands, sums, since }: FiguresProps) {
  const from = new Date(since).toISOString().slice(0, 16);
  const filtered = (state: string): string =>
    `#/messages?${new URLSearchParams({ state, fromDate: from }).toString()}`;
  const letters = stands?.deadLetters ?? 0;
  const figures = [
    {
      title: "Dead letters",
      value: letters < lettersMax ? letters.toLocaleString("en") : "10,000 or more",
      to: "#/dead-letters",
      isBad: letters > 0,
      isKnown: stands !== undefined,
    },
    {
      title: "Failed messages",
      value: sums?.FAILED.toLocaleString("en"),
      to: filtered("FAILED"),
      isBad: (sums?.FAILED ?? 0) > 0,
      isKnown: sums !== undefined,
    },
    {
      title: "Failed attempts",
      value: sums?.ERROR.toLocaleString("en"),
      to: filtered("ERROR"),
      isKnown: sums !== undefined,
    },
    {
      title: "Oldest due message",
      value: stands?.dueSince === undefined ? "none" : durationOf(stands.time - stands.dueSince),
      isKnown: stands !== undefined,
    },
    {
      title: "Unfinished messages",
      value: stands?.backlog.toLocaleString("en"),
      isKnown: stands !== undefined,
    },
    {
      title: "Accepted",
      value: sums?.CREATED.toLocaleString("en"),
      to: filtered("CREATED"),
      isKnown: sums !== undefined,
    },
    {
      title: "Delivered",
      value: sums?.DELIVERED.toLocaleString("en"),
      to: filtered("DELIVERED"),
      isKnown: sums !== undefined,
    },
  ];
  return (
    <dl className="figures">
      {figures.map(({ title, value, to, isBad = false, isKnown }) => (
        <div key={title} className="figure">
          <dt>{title}</dt>
          <dd className={isBad ? "trouble" : undefined} aria-busy={!isKnown}>
            {!isKnown ? (
              <span className="skeleton" />
            ) : to === undefined ? (
              value
            ) : (
              <a href={to}>{value}</a>
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}

const sampleMax = 1_000;

function Latency({ since }: { readonly since: number }) {
  const query = { fromDate: since, count: sampleMax, trimBody: 0 };
  const { data } = useAsked({ id: "listEvents", query }, { fresh: "slowly" });
  const latency = latencyOf(data?.events ?? []);
  if (latency === undefined) return null;
  return (
    <>
      From acceptance to delivery: median {durationOf(latency.median)}, p99{" "}
      {durationOf(latency.p99)}, over the latest {latency.count} messages
    </>
  );
}
