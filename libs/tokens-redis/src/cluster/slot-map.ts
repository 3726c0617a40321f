/** Parses which node owns which slot, as the nodes of a cluster report it, and a node's answer about another node's slot. */
import { type Endpoint } from "../link/dial.ts";
import { slotsTotal } from "./hash-slot.ts";

export type SlotMap = {
  /** The map with the higher number is the later one. */
  readonly epoch: number;
  /** The owner of each slot; `undefined` if no node has it. */
  readonly owners: readonly (string | undefined)[];
  readonly missing: number;
};

export const nothingKnown: SlotMap = {
  epoch: -1,
  owners: Array.from({ length: slotsTotal }, () => undefined),
  missing: slotsTotal,
};

/** `slots`, `info`: the answers of `asked` to CLUSTER SLOTS and CLUSTER INFO. */
export function slotMapIn(slots: unknown, info: string, asked: Endpoint): SlotMap {
  const owners: (string | undefined)[] = [...nothingKnown.owners];
  for (const range of listOf(slots)) {
    const [from, to, master] = listOf(range);
    const [host, port] = listOf(master);
    const address = addressOf({ host: hostOr(host, asked), port: Number(port) });
    owners.fill(address, Number(from), Number(to) + 1);
  }
  return {
    epoch: Number(/^cluster_current_epoch:(\d+)/m.exec(info)?.[1] ?? 0),
    owners: owners.slice(0, slotsTotal),
    missing: owners.filter((owner) => owner === undefined).length,
  };
}

export type Redirection =
  | { readonly kind: "moved" | "ask"; readonly slot: number; readonly to: string }
  /** Some of the keys have moved to another node: one question may be answered while several are not. */
  | { readonly kind: "split" };

export function redirectionIn(error: string, asked: Endpoint): Redirection | undefined {
  if (error.startsWith("TRYAGAIN")) return { kind: "split" };
  const [, kind, slot, host, port] = /^(MOVED|ASK) (\d+) (.*):(\d+)$/.exec(error) ?? [];
  if (kind === undefined) return undefined;
  const to = addressOf({ host: hostOr(host, asked), port: Number(port) });
  return { kind: kind === "ASK" ? "ask" : "moved", slot: Number(slot), to };
}

/** Returns the address with IPv6 without brackets, as nodes write it. */
export const addressOf = ({ host, port }: Endpoint): string => `${host}:${port}`;

export function endpointOf(address: string): Endpoint {
  const colon = address.lastIndexOf(":");
  return { host: address.slice(0, colon), port: Number(address.slice(colon + 1)) };
}

/** A node that does not know its own host means the host under which it was called. */
const hostOr = (host: unknown, asked: Endpoint): string =>
  typeof host === "string" && host !== "" && host !== "?" ? host : asked.host;

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
