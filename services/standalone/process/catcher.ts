/**
 * A destination for trying deliveries: prints each arrival as one line and answers 200. The path can ask for other
 * behaviours, also for several: `/status/503`, `/delay/2s`, `/fail/2` (the first two attempts fail),
 * `/delay/1s/status/500`.
 */
import { type IncomingMessage } from "node:http";
import { parseDuration } from "@posthaste/domain";
import { answer, createAnswers, createEdge, type Edge } from "@posthaste/http";
import { type Clock } from "@posthaste/ports";
import { createLog, systemRandom } from "@posthaste/process";
import { printedLine, visible } from "./printed-line.ts";

export type CatcherOptions = {
  readonly host: string;
  readonly port: number;
  readonly clock: Clock;
  readonly connectionsMax: number;
  /** Prints a line, given without its end; writes to the standard output when absent. */
  readonly print?: (line: string) => void;
};

/** Short, since the catcher is for trying out: requests under way are dropped. */
const drainMs = 500;

export function createCatcher(options: CatcherOptions): Edge {
  const { host, port, clock, connectionsMax, print = printLine } = options;
  const log = createLog({ service: "catcher", level: "warn", format: "human", clock });
  return createEdge({
    name: "catcher",
    host,
    port,
    log,
    clock,
    drainMs,
    limits: { connectionsMax },
    answers: createAnswers({ log, clock, random: systemRandom() }),
    handler: async (req, res) => {
      const bytes = await bytesOf(req);
      if (bytes === undefined) return;
      const { status, delayMs } = behaviourOf(req.url ?? "", retriedOf(req));
      print(lineOf(req, { at: clock.now(), bytes, status }));
      if (delayMs > 0) {
        await new Promise<void>((resolve) => {
          const callOff = clock.after(delayMs, resolve);
          res.on("close", callOff).on("close", resolve);
        });
      }
      answer(res, status, `{"caught":${String(status < 400)}}`);
    },
  });
}

const printLine = (line: string): void => void process.stdout.write(`${line}\n`);

/** Counts and drops the body's bytes. Returns undefined when the caller went away. */
async function bytesOf(req: IncomingMessage): Promise<number | undefined> {
  let bytes = 0;
  try {
    for await (const chunk of req) bytes += Buffer.isBuffer(chunk) ? chunk.length : 0;
  } catch {
    return undefined;
  }
  return bytes;
}

export type Behaviour = { readonly status: number; readonly delayMs: number };

/** Returns the behaviour that a path selects. Ignores unknown segments. */
export function behaviourOf(target: string, retried: number): Behaviour {
  const [path = ""] = target.split("?");
  const segments = path.split("/");
  let behaviour: Behaviour = { status: 200, delayMs: 0 };
  segments.forEach((segment, i) => {
    behaviour = { ...behaviour, ...asked(segment, segments[i + 1] ?? "", retried) };
  });
  return behaviour;
}

function asked(verb: string, value: string, retried: number): Partial<Behaviour> {
  switch (verb) {
    case "status":
      return /^[2-5]\d\d$/.test(value) ? { status: Number(value) } : {};
    case "fail":
      return /^\d{1,4}$/.test(value) && retried < Number(value) ? { status: 500 } : {};
    case "delay":
      return { delayMs: parseDuration(value) ?? 0 };
    default:
      return {};
  }
}

const retriedOf = (req: IncomingMessage): number => Number(ours(req, "retried") ?? 0);

/** Returns a header of Posthaste in either dialect. */
function ours(req: IncomingMessage, name: string): string | undefined {
  const value = req.headers[`service-${name}`] ?? req.headers[`upstash-${name}`];
  return typeof value === "string" ? value : undefined;
}

type Arrival = { readonly at: number; readonly bytes: number; readonly status: number };

/** `14:03:07.123  caught  POST /hello  17 B  msg_…  retried 0  → 200` */
function lineOf(req: IncomingMessage, { at, bytes, status }: Arrival): string {
  return printedLine(at, "caught", [
    `${req.method ?? ""} ${visible(req.url ?? "")}`,
    `${bytes} B`,
    visible(ours(req, "message-id") ?? "no message id"),
    `retried ${retriedOf(req)}`,
    `→ ${status}`,
  ]);
}
