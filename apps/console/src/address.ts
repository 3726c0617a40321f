/** The page's address, all of it after the `#`: one file is served, which may be under any path. */
import { useSyncExternalStore } from "react";

const home = "/";

function subscribe(onChange: () => void): () => void {
  addEventListener("hashchange", onChange);
  return () => removeEventListener("hashchange", onChange);
}

export const here = (): string => location.hash.slice(1) || home;
export const useAddress = (): string => useSyncExternalStore(subscribe, here);

export const go = (to: string): void => {
  location.hash = to;
};

/** Goes to an address without a new entry in the browser's history. */
const turn = (to: string): void => location.replace(`#${to}`);

export const pathIn = (address: string): string => address.split("?", 1).join("");

export const usePath = (): [string, (to: string) => void] => [pathIn(useAddress()), go];

/** Returns a part of the path as a link spells it. */
export const part = (text: string): string => encodeURIComponent(text);

/** Returns the last part of the path, decoded once. An id is its caller's own and may hold any character. */
export function useLastPart(): string {
  const last = pathIn(useAddress()).split("/").at(-1) ?? "";
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}

type Values = Iterable<readonly [string, string]>;

/** Returns the query of the address, and two ways to change it: with and without a new history entry. Empty values are dropped. */
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
