/**
 * Sends answers. The status and all headers go out in one write with the body, in an array that Node takes as it is:
 * `setHeader` for each costs several times as much.
 */
import { type IncomingMessage, type ServerResponse } from "node:http";

/** Names and values in turn. */
export type FlatHeaders = readonly string[];

export const noHeaders: FlatHeaders = [];
/** `nosniff`: a browser must not take stored data for anything but its declared type. */
export const jsonHeaders: FlatHeaders = [
  "Content-Type",
  "application/json",
  "X-Content-Type-Options",
  "nosniff",
];
const closing: FlatHeaders = ["Connection", "close"];

/** Sends `body`, a JSON text. Does nothing when the caller has disconnected or was already answered. */
export function answer(
  res: ServerResponse,
  status: number,
  body: string,
  extra: FlatHeaders = noHeaders,
): void {
  if (res.headersSent || res.destroyed) return;
  res.writeHead(status, headersFor(body, extra));
  res.end(body);
}

/** Bytes that a caller may still send after a refusal: up to this many are read and dropped, so that the caller reads the answer. */
const discardedBytesMax = 32 * 1024 * 1024;
const discardMsMax = 5_000;

/**
 * Answers a request whose body is not read, and closes the connection. Closing with unread bytes makes the kernel send a reset, which can
 * overtake the answer: so the answer is sent whole, and the end waits for the caller's.
 */
export function answerAndClose(
  res: ServerResponse,
  status: number,
  body: string,
  options: {
    readonly extra?: FlatHeaders;
    readonly after: (ms: number, task: () => void) => () => void;
  },
): void {
  if (res.headersSent || res.destroyed) return;
  const { req } = res;
  res.writeHead(status, headersFor(body, [...(options.extra ?? noHeaders), ...closing]));
  if (req.complete || expectsContinue(req)) {
    res.end(body);
    return;
  }
  res.write(body);
  let discardedBytes = 0;
  const end = (): void => {
    callOff();
    req.off("data", count).off("end", end).off("close", end);
    res.end();
  };
  const count = (chunk: Uint8Array): void => {
    discardedBytes += chunk.length;
    if (discardedBytes > discardedBytesMax) end();
  };
  const callOff = options.after(discardMsMax, end);
  req.on("data", count).on("end", end).on("close", end);
}

/** Reports whether the caller waits for 100 Continue before it sends the body. */
export const expectsContinue = (req: IncomingMessage): boolean => req.headers.expect !== undefined;

function headersFor(body: string, extra: FlatHeaders): string[] {
  return [...jsonHeaders, "Content-Length", String(Buffer.byteLength(body)), ...extra];
}
