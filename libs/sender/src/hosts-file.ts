/** Reads /etc/hosts, for destinations in the local network: names such as `host.docker.internal` are in no DNS. */
import { readFile } from "node:fs/promises";
import { type Clock } from "@posthaste/ports";
import { type Hosts } from "./names.ts";

const keepMs = 10_000;

/** Looks names up in the file, which is read again at most every ten seconds. An unreadable file holds no names. */
export function hostsFile(path: string, clock: Clock): Hosts {
  let entries: Promise<ReadonlyMap<string, readonly string[]>> = Promise.resolve(new Map());
  let readAt = -Infinity;
  return async (name) => {
    if (clock.passedMs() - readAt >= keepMs) {
      readAt = clock.passedMs();
      entries = readFile(path, "utf8").then(parseHosts, () => new Map());
    }
    return (await entries).get(name) ?? [];
  };
}

function parseHosts(text: string): ReadonlyMap<string, readonly string[]> {
  const entries = new Map<string, string[]>();
  for (const line of text.split("\n")) {
    const [address, ...names] = line.replace(/#.*/, "").trim().split(/\s+/);
    if (address === undefined) continue;
    for (const name of names.map((each) => each.toLowerCase()))
      entries.set(name, [...(entries.get(name) ?? []), address]);
  }
  return entries;
}
