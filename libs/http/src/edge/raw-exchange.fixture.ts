import { connect, type Socket } from "node:net";
import { fault } from "@posthaste/domain";
import { type Log } from "@posthaste/ports";
import { systemClock, systemRandom } from "@posthaste/process";
import { type Answers, createAnswers } from "../answers/answers.ts";
import { createEdge, type Edge, type EdgeOptions, type RequestHandler } from "./edge.ts";

export type RawAnswer = { readonly status: number; readonly head: string; readonly body: string };

/** Returns all answers until the server closes the connection; the caller keeps its side open, as attackers do. */
export async function rawExchange(port: number, bytes: string | Uint8Array): Promise<RawAnswer[]> {
  const socket = connect(port, "127.0.0.1");
  socket.write(bytes);
  return answersIn(await everything(socket));
}

/** Returns a whole request that asks the server to close afterwards. */
export const request = (line: string, headers: readonly string[] = [], body = ""): string =>
  [line, "Host: a", "Connection: close", ...headers, "", body].join("\r\n");

function everything(socket: Socket): Promise<string> {
  let text = "";
  socket.setEncoding("latin1").on("data", (chunk: string) => (text += chunk));
  return new Promise((resolve, reject) => {
    socket.on("error", reject).on("close", () => resolve(text));
  });
}

function answersIn(text: string): RawAnswer[] {
  const answers: RawAnswer[] = [];
  for (let rest = text; rest !== "";) {
    const headEnd = rest.indexOf("\r\n\r\n") + 4;
    const head = rest.slice(0, headEnd);
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
    answers.push({
      status: Number(head.slice(9, 12)),
      head,
      body: rest.slice(headEnd, headEnd + length),
    });
    rest = rest.slice(headEnd + length);
  }
  return answers;
}

/** A clock whose timers do not keep the test's process alive. */
export const hostClock = systemClock({ unref: true });

export type TestEdge = { readonly edge: Edge; readonly answers: Answers };

const ignore = (): void => undefined;
const silent: Log = { debug: ignore, info: ignore, warn: ignore, error: ignore, debugs: false };

/** Starts an edge on a free port. Without a handler every request that gets through is answered with 404 "got through". */
export async function testEdge(
  options: Partial<EdgeOptions> & {
    readonly handle?: (answers: Answers) => RequestHandler;
  } = {},
): Promise<TestEdge> {
  const { log = silent } = options;
  const clock = hostClock;
  const answers = createAnswers({ log, clock, random: systemRandom() });
  const gotThrough: RequestHandler = (_req, res) => {
    answers.fault(res, fault("not_found", "got through"));
    return undefined;
  };
  const edge = createEdge({
    name: "edge",
    host: "127.0.0.1",
    port: 0,
    answers,
    log,
    clock,
    drainMs: 1_000,
    handler: options.handle?.(answers) ?? gotThrough,
    ...options,
  });
  await edge.start();
  return { edge, answers };
}
