/** Reads the round trips to the servers, as the processes count them at `/metrics`. */

export type Calls = {
  readonly bus: number;
  /** Kafka's messages, each of which carries one or many events. */
  readonly events: number;
  readonly store: number;
  readonly tokens: number;
};

const counters: Readonly<Record<keyof Calls, RegExp>> = {
  bus: /^posthaste_bus_total\{what="(?:sends|commits)"\} (\S+)$/gm,
  events: /^posthaste_bus_total\{what="messages"\} (\S+)$/gm,
  store: /^posthaste_store_calls_total (\S+)$/gm,
  tokens: /^posthaste_tokens_total\{what="calls"\} (\S+)$/gm,
};

/** Sums over the processes that listen on these ports. */
export async function readCalls(ports: readonly number[]): Promise<Calls> {
  const texts = await Promise.all(
    ports.map(async (port) => (await fetch(`http://127.0.0.1:${port}/metrics`)).text()),
  );
  const sum = (pattern: RegExp): number =>
    texts
      .flatMap((text) => [...text.matchAll(pattern)])
      .reduce((total, [, value]) => total + Number(value), 0);
  return {
    bus: sum(counters.bus),
    events: sum(counters.events),
    store: sum(counters.store),
    tokens: sum(counters.tokens),
  };
}
