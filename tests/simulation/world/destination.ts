/** Destinations from friendly to hostile, each with its behaviour in its host's name, and the sender that calls them. */
import { type Headers, messageId, type Outcome, runId, tenantId } from "@posthaste/domain";
import { type OutgoingRequest, type Sender } from "@posthaste/ports";
import { type Dice } from "@posthaste/testing";
import { type Exchange } from "./history.ts";
import { type Environment, type Life } from "./node.ts";

const manners = [
  "good",
  "flaky",
  "bad",
  "final",
  "later",
  "slow",
  "hang",
  "long",
  "broken",
  "ours",
] as const;
export type Manner = (typeof manners)[number];

export const urlOf = (manner: Manner, host: number, path: string): string =>
  `https://${manner}-${host}.example/${path}`;

/** Headers that name the message or run of an outgoing request, in addition to the caller's. */
export const ourHeaders = {
  id: "Service-Message-Id",
  tenant: "Tenant",
  epoch: "Service-Attempt-Epoch",
  retried: "Service-Retried",
  runId: "Service-Workflow-RunId",
  runCreatedAt: "Service-Workflow-CreatedAt",
  probes: "Service-Workflow-Unknown-Sdk",
};

export type Destinations = {
  senderOf(life: Life): Sender;
  /** Lets `endpoint` answer requests to a workflow's host. */
  serve(endpoint: Endpoint): void;
  onReceipt(listener: (exchange: Exchange) => void): void;
};

/** Undefined for an endpoint that never answers. */
export type Endpoint = (exchange: Exchange) => Promise<Answering | undefined>;

export type Answering = {
  readonly afterMs: number;
  readonly status: number;
  readonly headers: Headers;
};
type Meeting =
  | { readonly kind: "answers"; readonly answer: Answering }
  /** The request arrives and nothing comes back: silence, or a reset. */
  | { readonly kind: "silent" }
  | { readonly kind: "served" }
  | { readonly kind: "resets"; readonly afterMs: number }
  | { readonly kind: "refused"; readonly outcome: Outcome };

export function destinations(environment: Environment): Destinations {
  const { world, history } = environment;
  const chance = world.chanceOf();
  const listeners: ((exchange: Exchange) => void)[] = [];
  let endpoint: Endpoint = async () => undefined;

  const reach = (exchange: Exchange): void => {
    exchange.reachedAt = world.now;
    history.count("receipts");
    for (const listener of listeners) listener(exchange);
  };

  const send = (
    life: Life,
    request: OutgoingRequest,
  ): { outcome: Promise<Outcome>; abort: () => void } => {
    const exchange = exchangeOf(life, request, world.now);
    history.exchanges.push(exchange);
    const meeting = meet(request.url, request.timeoutMs, chance);
    world.trace(
      `${life.name} sends ${exchange.id} epoch ${exchange.epoch} retried ${exchange.retried}: ${meeting.kind}`,
    );
    let finish: (outcome: Outcome) => void = () => undefined;
    const outcome = new Promise<Outcome>((resolve) => {
      finish = (ended) => {
        if (exchange.endedAt !== undefined) return;
        exchange.endedAt = world.now;
        resolve(ended);
      };
    });
    const hear = (ended: Outcome): void => life.deliver(() => finish(ended));
    life.onEnd(() => (exchange.endedAt ??= world.now));
    world.after(request.timeoutMs, () =>
      hear({ kind: "unreachable", code: "timeout", text: "no answer in time" }),
    );
    const onWire = (task: () => void): void => {
      // A request that was cut before it arrived never arrives.
      world.after(chance.fraction() * 5, () => exchange.endedAt === undefined && task());
    };
    const answer = (given: Answering): void => {
      // An answer after the sender has hung up is not read; a process that died meanwhile might have read it.
      if (exchange.endedAt !== undefined && !life.hasEnded) return;
      exchange.answeredAt = world.now;
      exchange.status = given.status;
      hear(answered(given));
    };
    switch (meeting.kind) {
      case "served":
        onWire(() => {
          reach(exchange);
          void endpoint(exchange).then((given) => {
            if (given) world.after(given.afterMs, () => answer(given));
          });
        });
        break;
      case "refused":
        world.after(1, () => hear(meeting.outcome));
        break;
      case "silent":
        onWire(() => reach(exchange));
        break;
      case "resets":
        onWire(() => {
          reach(exchange);
          world.after(meeting.afterMs, () =>
            hear({ kind: "unreachable", code: "connection_lost", text: "reset" }),
          );
        });
        break;
      case "answers":
        onWire(() => {
          reach(exchange);
          world.after(meeting.answer.afterMs, () => answer(meeting.answer));
        });
        break;
    }
    return { outcome, abort: () => finish({ kind: "aborted" }) };
  };

  return {
    senderOf: (life) => ({ send: (request) => send(life, request), close: async () => undefined }),
    serve: (given) => (endpoint = given),
    onReceipt: (listener) => listeners.push(listener),
  };
}

const answered = ({ status, headers }: Answering): Outcome => ({
  kind: "answered",
  status,
  headers,
  body: new TextEncoder().encode(`said ${status}`),
  truncated: false,
});

function meet(url: string, timeoutMs: number, chance: Dice): Meeting {
  const answer = (afterMs: number, status: number, headers: Headers = []): Meeting => ({
    kind: "answers",
    answer: { afterMs, status, headers },
  });
  const soon = chance.integer(1, 200);
  const host = new URL(url).hostname;
  if (host.startsWith("workflow-")) return { kind: "served" };
  const manner = manners.find((name) => host.startsWith(`${name}-`)) ?? "good";
  switch (manner) {
    case "good":
      return answer(soon, chance.pick([200, 200, 201, 204]));
    case "flaky":
      return answer(soon, chance.chance(0.5) ? 200 : chance.pick([500, 502, 404, 301]));
    case "bad":
      return answer(soon, chance.pick([500, 503, 400]));
    case "final":
      return chance.chance(0.5)
        ? answer(soon, 489, [["Service-NonRetryable-Error", "true"]])
        : answer(soon, 489);
    case "later":
      return chance.chance(0.5)
        ? answer(soon, 200)
        : answer(soon, 429, [["Retry-After", chance.pick(["0", "1", "7", "999999999", "soon"])]]);
    case "slow":
      return answer(chance.integer(1_000, 20_000), 200);
    case "hang":
      return chance.chance(0.6) ? { kind: "silent" } : answer(soon, 200);
    case "long":
      return answer(chance.integer(35_000, 150_000), chance.chance(0.8) ? 200 : 500);
    case "broken":
      return chance.chance(0.4) ? answer(soon, 200) : breaking(chance);
    case "ours":
      return chance.chance(0.5) ? oursToBlame : answer(soon, chance.pick([200, 500]));
  }
}

const breaking = (chance: Dice): Meeting =>
  chance.chance(0.5)
    ? { kind: "resets", afterMs: chance.integer(1, 3_000) }
    : {
        kind: "refused",
        outcome: { kind: "unreachable", code: "connect_failed", text: "refused" },
      };

const oursToBlame: Meeting = {
  kind: "refused",
  outcome: { kind: "infrastructure", code: "out_of_sockets", text: "no socket was free" },
};

function exchangeOf(life: Life, request: OutgoingRequest, now: number): Exchange {
  const header = (wanted: string): string =>
    request.headers.find(([name]) => name === wanted)?.[1] ?? "";
  const id = header(ourHeaders.runId);
  const ours: ReadonlySet<string> = new Set(Object.values(ourHeaders));
  return {
    id: messageId(header(ourHeaders.id)),
    tenant: tenantId(header(ourHeaders.tenant)),
    epoch: Number(header(ourHeaders.epoch)),
    retried: Number(header(ourHeaders.retried)),
    node: life.node.name,
    run:
      id === ""
        ? undefined
        : {
            id: runId(id),
            createdAt: Number(header(ourHeaders.runCreatedAt)),
            probes: header(ourHeaders.probes) === "true",
          },
    url: request.url,
    method: request.method,
    headers: request.headers.filter(([name]) => !ours.has(name)),
    body: request.body,
    sentAt: now,
    reachedAt: undefined,
    answeredAt: undefined,
    status: undefined,
    endedAt: undefined,
  };
}
