/** The most expensive operations that a caller may ask for. */
import { token } from "../load/template.ts";

const finished = 300_000;
const fatRows = 1_001;
const fatHeader = "x".repeat(7_250);

export type Request = { readonly path: string; readonly init?: RequestInit };
export type Way = {
  readonly what: string;
  readonly callers: number;
  readonly finished?: number;
  /** Sent once each before the callers begin. */
  readonly before?: { readonly count: number; readonly request: (n: number) => Request };
  readonly request: (n: number) => Request;
};

const post = (path: string, headers: Readonly<Record<string, string>>): Request => ({
  path,
  init: { method: "POST", headers },
});
/** 29 KB together, half for the message and half for its callback. */
const fatMessage = {
  "Service-Forward-X-A": fatHeader,
  "Service-Forward-X-B": fatHeader,
  "Service-Callback": "http://127.0.0.1:9",
  "Service-Callback-Forward-X-A": fatHeader,
  "Service-Callback-Forward-X-B": fatHeader,
};
const nowhere = "http://127.0.0.1:9";
const fatSchedules = {
  count: fatRows,
  request: () => post(`/v2/schedules/${nowhere}`, { ...fatMessage, "Service-Cron": "0 0 1 1 *" }),
};

export const ways: readonly Way[] = [
  ...[40, 250].map((callers) => ({
    what: "lists of 1,000 schedules with 29 KB of headers each",
    callers,
    before: fatSchedules,
    request: () => ({ path: "/v2/schedules?count=1000" }),
  })),
  {
    what: "pages of 1,000 events of messages with 29 KB of headers",
    callers: 40,
    before: {
      count: fatRows,
      request: () => post(`/v2/publish/${nowhere}`, { ...fatMessage, "Service-Delay": "7d" }),
    },
    request: () => ({ path: "/v2/events?count=1000" }),
  },
  {
    what: "refused schedules, each with a new spelling of one time zone",
    callers: 4,
    request: (n) =>
      post(`/v2/schedules/${nowhere}`, {
        "Service-Cron": `CRON_TZ=${spelling("America/Argentina/ComodRivadavia", n)} 0 25 * * *`,
      }),
  },
  {
    what: "refused schedules, each with a new expression",
    callers: 4,
    request: (n) =>
      post(`/v2/schedules/${nowhere}`, {
        "Service-Cron": `${n % 60} ${Math.floor(n / 60) % 24} ${n % 28} * *`,
        "Service-Retries": "many",
      }),
  },
  {
    what: "lists of the log by a destination that no message has",
    callers: 4,
    finished,
    request: (n) => ({ path: `/v2/events?url=http://nowhere-${n}.example/` }),
  },
];

export function ask(port: number, { path, init }: Request): Promise<Response> {
  const headers = { Authorization: `Bearer ${token}`, ...init?.headers };
  return fetch(`http://127.0.0.1:${port}${path}`, { ...init, headers });
}

/** Returns one of the 2ⁿ spellings of a name with n letters. */
function spelling(name: string, n: number): string {
  let bit = n;
  return [...name]
    .map((letter) => {
      if (!/[a-z]/i.test(letter)) return letter;
      const isUpper = bit % 2 === 1;
      bit = Math.floor(bit / 2);
      return isUpper ? letter.toUpperCase() : letter.toLowerCase();
    })
    .join("");
}
