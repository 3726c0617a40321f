/** Where the page is. All of it stands behind the `#`, so that the server has one page and may be below any path. */
import { useSyncExternalStore } from "react";

function subscribe(onChange: () => void): () => void {
  addEventListener("hashchange", onChange);
  return () => removeEventListener("hashchange", onChange);
}

const current = (): string => location.hash.slice(1) || "/messages";
const useAddress = (): string => useSyncExternalStore(subscribe, current);

const go = (to: string): void => {
  location.hash = to;
};

export const usePath = (): [string, (to: string) => void] => [
  useAddress().split("?", 1).join(""),
  go,
];

/** The filters of a list as a query takes them: those of these names, and the place in the list. */
export function queryIn<Name extends string>(
  filters: URLSearchParams,
  names: readonly Name[],
): { readonly [N in Name | "cursor"]?: string } {
  const isNamed = (name: string): name is Name | "cursor" =>
    name === "cursor" || names.some((known) => known === name);
  const query: { [N in Name | "cursor"]?: string } = {};
  for (const [name, value] of filters) if (isNamed(name)) query[name] = value;
  return query;
}

/** The filters of a list, and how to change them. Empty ones are not kept. */
export function useFilters(): [URLSearchParams, (filters: Iterable<[string, string]>) => void] {
  const address = useAddress();
  const mark = address.indexOf("?");
  const path = mark < 0 ? address : address.slice(0, mark);
  const set = (filters: Iterable<[string, string]>) =>
    go(
      `${path}?${new URLSearchParams([...filters].filter(([, value]) => value !== "")).toString()}`,
    );
  return [new URLSearchParams(mark < 0 ? "" : address.slice(mark + 1)), set];
}
