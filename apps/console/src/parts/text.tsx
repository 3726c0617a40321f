/** Small texts: times, states and ids. Shows callers' and destinations' text as text, whatever it contains. */
import { type ReactNode } from "react";
import { part } from "../address.ts";
import { agoOf, localOf, shown, utcOf } from "../api/text.ts";
import { useNow } from "./now.ts";

type At = { readonly at: number | undefined };

const bothOf = (at: number): string => `${utcOf(at)} UTC · ${localOf(at, 0)} here`;

/** Shows a time in the browser's zone, and on hover in UTC. */
export function Time({ at }: At) {
  const now = useNow();
  if (at === undefined || utcOf(at) === "") return null;
  return (
    <time
      dateTime={new Date(at).toISOString()}
      className="time"
      title={`${bothOf(at)}, ${agoOf(at, now)}`}
    >
      {localOf(at, now)}
    </time>
  );
}

/** Shows how long ago a time was, or how far ahead it is. */
export function Age({ at }: At) {
  const now = useNow();
  if (at === undefined || utcOf(at) === "") return null;
  return (
    <time dateTime={new Date(at).toISOString()} className="time" title={bothOf(at)}>
      {agoOf(at, now)}
    </time>
  );
}

/** Returns a time as a fact, or undefined without one. */
export const timeOf = (at: number | undefined): ReactNode =>
  at === undefined ? undefined : (
    <>
      <Time at={at} />{" "}
      <span className="muted">
        · <Age at={at} />
      </span>
    </>
  );

export type Tone = "good" | "bad" | "busy" | "calm";

export function State({ tone, children }: { readonly tone: Tone; readonly children: ReactNode }) {
  return <span className={`state ${tone}`}>{children}</span>;
}

type IdProps = { readonly to: string; readonly id: string };

export function Id({ to, id }: IdProps) {
  return (
    <a className="id" href={`#${to}/${part(id)}`}>
      {shown(id)}
    </a>
  );
}

export const MessageId = ({ id }: { readonly id: string }) => <Id to="/messages" id={id} />;
export const RunId = ({ id }: { readonly id: string }) => <Id to="/runs" id={id} />;

type FilteredProps = {
  readonly to: string;
  readonly by: string;
  readonly text: string;
  /** The text itself, if nothing is given. */
  readonly children?: ReactNode;
};

export const Filtered = ({ to, by, text, children = shown(text) }: FilteredProps) => (
  <a href={`#${to}?${new URLSearchParams({ [by]: text }).toString()}`}>{children}</a>
);

export const Labels = ({
  to,
  labels,
}: {
  readonly to: string;
  readonly labels: readonly string[];
}) =>
  labels.map((label, nth) => (
    <span key={label}>
      {nth > 0 && ", "}
      <Filtered to={to} by="label" text={label} />
    </span>
  ));

/** Shows the beginning of a long text in a cell, and on hover all of it. */
export function Short({ text }: { readonly text: string | undefined }) {
  if (text === undefined || text === "") return null;
  return (
    <span className="short" title={shown(text, 2_000)}>
      {shown(text)}
    </span>
  );
}
