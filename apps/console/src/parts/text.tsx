/** Small texts: times, states, ids. What callers and destinations have written is shown as text, whatever it is. */
import { type ReactNode } from "react";
import { part } from "../address.ts";
import { shown, utcOf } from "../api/text.ts";

export function Time({ at }: { readonly at: number | undefined }) {
  const text = utcOf(at);
  if (at === undefined || text === "") return null;
  const [day = "", time = ""] = text.split(" ");
  return (
    <time dateTime={new Date(at).toISOString()} className="time">
      <span className="day">{day}</span> {time}
    </time>
  );
}

/** As a fact: undefined where there is none. */
export const timeOf = (at: number | undefined): ReactNode =>
  at === undefined ? undefined : <Time at={at} />;

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

/** A long text in one cell: its beginning, and all of it under the pointer. */
export function Short({ text }: { readonly text: string | undefined }) {
  return (
    <span className="short" title={shown(text, 2_000)}>
      {shown(text)}
    </span>
  );
}
