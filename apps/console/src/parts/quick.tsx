/** The most frequent values of a filter, failures first, each one click away. */
import { pathIn, useAddress, useSearch } from "../address.ts";

type Props = {
  readonly name: string;
  readonly label: string;
  readonly choices: readonly (readonly [value: string, title: string])[];
};

export function Quick({ name, label, choices }: Props) {
  const [search] = useSearch();
  const path = pathIn(useAddress());
  const given = search.get(name) ?? "";
  const to = (value: string): string => {
    const next = new Map(search).set(name, value).set("cursor", "");
    const kept = [...next].filter(([, each]) => each !== "");
    const query = new URLSearchParams(kept).toString();
    return query === "" ? `#${path}` : `#${path}?${query}`;
  };
  return (
    <nav className="ranges" aria-label={label}>
      {choices.map(([value, title]) => (
        <a key={value} href={to(value)} aria-current={value === given ? "true" : undefined}>
          {title}
        </a>
      ))}
    </nav>
  );
}
