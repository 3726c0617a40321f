/** How it goes: what came in and what became of it in the last hour, and what stands now. */
import { useAsked } from "../api/asked.ts";
import { durationOf } from "../api/text.ts";
import { Bars } from "../parts/bars.tsx";
import { Page } from "../parts/page.tsx";
import { Trouble } from "../parts/trouble.tsx";
import { ratesOf, type Rates } from "../rules/rates.ts";

/** Beyond it they are not counted. */
const lettersMax = 10_000;

export function Overview() {
  // Counts are kept a moment after the events that the log tells of.
  const counts = useAsked({ id: "listCounts" }, { fresh: "often" });
  const stands = useAsked({ id: "readOverview" }, { fresh: "often" });
  const now = stands.data?.time ?? Date.now();
  const rates = ratesOf(counts.data?.minutes ?? [], now);
  return (
    <Page title="Overview">
      <Trouble error={stands.error ?? counts.error} isStale={stands.data !== undefined} />
      {stands.data && <Standing {...stands.data} />}
      <h2>The last hour</h2>
      {counts.data && (
        <>
          <Outcomes sums={rates.sums} />
          <Bars rates={rates} />
        </>
      )}
    </Page>
  );
}

type StandingProps = {
  readonly time: number;
  readonly backlog: number;
  readonly dueSince?: number;
  readonly deadLetters: number;
};

function Standing({ time, backlog, dueSince, deadLetters }: StandingProps) {
  const letters =
    deadLetters < lettersMax ? String(deadLetters) : `${lettersMax.toLocaleString("en")} or more`;
  return (
    <dl className="figures">
      <div className="figure">
        <dt>Dead letters</dt>
        <dd className={deadLetters > 0 ? "trouble" : undefined}>
          {letters}
          <small>{deadLetters > 0 && <a href="#/dead-letters">See them</a>}</small>
        </dd>
      </div>
      <div className="figure">
        <dt>Oldest due message</dt>
        <dd>
          {dueSince === undefined ? "none waits" : durationOf(time - dueSince)}
          <small>{dueSince !== undefined && "it has been due for so long"}</small>
        </dd>
      </div>
      <div className="figure">
        <dt>Not ended yet</dt>
        <dd>
          {backlog.toLocaleString("en")}
          <small>messages that wait or are under way</small>
        </dd>
      </div>
    </dl>
  );
}

const rateOf = (ofHour: number): string =>
  ofHour > 0 && ofHour < 6 ? "less than 0.1 a minute" : `${(ofHour / 60).toFixed(1)} a minute`;

function Outcomes({ sums }: { readonly sums: Rates["sums"] }) {
  const figures = [
    ["Accepted", sums.CREATED, "CREATED"],
    ["Delivered", sums.DELIVERED, "DELIVERED"],
    ["Failed attempts", sums.ERROR, "ERROR"],
    ["Failed for good", sums.FAILED, "FAILED"],
  ] as const;
  return (
    <dl className="figures">
      {figures.map(([title, count, state]) => (
        <div key={state} className="figure">
          <dt>{title}</dt>
          <dd>
            {count.toLocaleString("en")}
            <small>
              <a href={`#/messages?state=${state}`}>{rateOf(count)}</a>
            </small>
          </dd>
        </div>
      ))}
    </dl>
  );
}
