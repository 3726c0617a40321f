/** Where the page is. All of it stands behind the `#`: one file is served, and it may be below any path. */
import { useSyncExternalStore } from "react";

const home = "/";

function subscribe(onChange: () => void): () => void {
  addEventListener("hashchange", onChange);
  return () => removeEventListener("hashchange", onChange);
}

const current = (): string => location.hash.slice(1) || home;
export const useAddress = (): string => useSyncExternalStore(subscribe, current);

export const go = (to: string): void => {
  location.hash = to;
};

/** Without a place in the browser's history. */
const turn = (to: string): void => location.replace(`#${to}`);

export const pathIn = (address: string): string => address.split("?", 1).join("");

export const usePath = (): [string, (to: string) => void] => [pathIn(useAddress()), go];

/** A part of the path as a link holds it. */
export const part = (text: string): string => encodeURIComponent(text);

/** The last part of the path, decoded once: ids are their callers' own, and may hold any character. */
export function useLastPart(): string {
  const last = pathIn(useAddress()).split("/").at(-1) ?? "";
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}

type Values = Iterable<readonly [string, string]>;

/** What stands behind the `?`, and how to change it: as a place to come back to, or not. What is empty is not kept. */
export function useSearch(): [
  search: URLSearchParams,
  set: (values: Values) => void,
  adjust: (values: Values) => void,
] {
  const address = useAddress();
  const path = pathIn(address);
  const addressOf = (values: Values): string => {
    const kept = [...values].filter(([, value]) => value !== "").map(([...pair]) => pair);
    const search = new URLSearchParams(kept).toString();
    return search === "" ? path : `${path}?${search}`;
  };
  const search = new URLSearchParams(address.slice(path.length + 1));
  return [search, (values) => go(addressOf(values)), (values) => turn(addressOf(values))];
}
