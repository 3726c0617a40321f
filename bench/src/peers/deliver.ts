/** Calls destinations with undici's dispatch, the cheapest client on Node: one pool per origin, keep-alive. */
import { type Dispatcher, Pool } from "undici";

export type Delivery = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | string;
};

const connections = 64;
const pools = new Map<string, Pool>();

/** `done` gets the status, or the error of a call without an answer. */
export function deliver(
  { url, headers, body }: Delivery,
  done: (outcome: number | Error) => void,
): void {
  const { origin, pathname, search } = new URL(url);
  poolOf(origin).dispatch(
    { path: pathname + search, method: "POST", headers, body },
    handler(done),
  );
}

function poolOf(origin: string): Pool {
  const known = pools.get(origin);
  if (known !== undefined) return known;
  const pool = new Pool(origin, { connections, pipelining: 1 });
  pools.set(origin, pool);
  return pool;
}

function handler(done: (outcome: number | Error) => void): Dispatcher.DispatchHandler {
  let status = 0;
  return {
    onRequestStart: nothing,
    onResponseStart: (_controller, statusCode) => {
      status = statusCode;
    },
    onResponseData: nothing,
    onResponseEnd: () => done(status),
    onResponseError: (_controller, error) => done(error),
  };
}

const nothing = () => undefined;
