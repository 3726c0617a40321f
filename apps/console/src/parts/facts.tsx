/** Facts about one thing, by name. Absent ones are left out. */
import { Fragment, type ReactNode } from "react";
import { shown } from "../api/text.ts";

export type Fact = readonly [name: string, value: ReactNode];

export function Facts({ facts }: { readonly facts: readonly Fact[] }) {
  return (
    <dl className="facts">
      {facts
        .filter(([, value]) => value !== undefined && value !== "" && value !== false)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

type Headers = Readonly<Record<string, string | readonly string[]>>;

export function HeaderList({ headers }: { readonly headers: Headers | undefined }) {
  const entries = Object.entries(headers ?? {});
  if (entries.length === 0) return <p className="muted">none</p>;
  return (
    <dl className="facts mono">
      {entries.map(([name, values]) => (
        <div key={name}>
          <dt>{shown(name)}</dt>
          <dd>
            {[values].flat().map((value, nth) => (
              <Fragment key={nth}>
                {nth > 0 && <br />}
                {shown(value, 2_000)}
              </Fragment>
            ))}
          </dd>
        </div>
      ))}
    </dl>
  );
}
