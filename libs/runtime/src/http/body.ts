/**
 * Bodies. What counts are the bytes that arrive: a Content-Length is believed only when it is too large.
 */
import { type IncomingMessage, type ServerResponse } from "node:http";
import { fault, type Fault } from "@posthaste/domain";
import { expectsContinue } from "./answer.ts";

/** Bytes of all bodies that are being read or worked on (reliability.md P12). Shared by all requests of a process. */
export type BodyBudget = {
  fits(bytes: number): boolean;
  take(bytes: number): void;
  giveBack(bytes: number): void;
  /** Bytes taken now. */
  readonly taken: number;
};

const bodyBudgetBytes = 128 * 1024 * 1024;

export function createBodyBudget(bytesMax = bodyBudgetBytes): BodyBudget {
  let taken = 0;
  return {
    fits: (bytes) => taken + bytes <= bytesMax,
    take: (bytes) => void (taken += bytes),
    giveBack: (bytes) => void (taken -= bytes),
    get taken() {
      return taken;
    },
  };
}

export type ReadBodyOptions = { readonly bytesMax: number; readonly budget: BodyBudget };

const empty = new Uint8Array(0);

/**
 * The whole body, or a fault: `too_large`, `overloaded` (the budget), `malformed` (the caller went away half-way). The
 * budget gets its bytes back when the response closes, since until then the body is in use. A body that came in one
 * chunk is that chunk.
 */
export function readBody(
  res: ServerResponse<IncomingMessage>,
  { bytesMax, budget }: ReadBodyOptions,
): Promise<Uint8Array | Fault> {
  const { req } = res;
  const declared = req.headers["content-length"];
  if (declared === undefined && req.headers["transfer-encoding"] === undefined) {
    return Promise.resolve(empty);
  }
  const declaredBytes = Number(declared ?? 0);
  if (declaredBytes > bytesMax) return Promise.resolve(tooLarge(bytesMax));
  if (!budget.fits(declaredBytes)) return Promise.resolve(tooBusy());
  if (expectsContinue(req)) res.writeContinue();
  return new Promise((resolve) => collect(res, { bytesMax, budget }, resolve));
}

function collect(
  res: ServerResponse<IncomingMessage>,
  { bytesMax, budget }: ReadBodyOptions,
  resolve: (body: Uint8Array | Fault) => void,
): void {
  const { req } = res;
  let first: Uint8Array | undefined;
  let others: Uint8Array[] | undefined;
  let bytes = 0;
  let ended = false;

  const onData = (chunk: Uint8Array): void => {
    const fits = budget.fits(chunk.length);
    budget.take(chunk.length);
    bytes += chunk.length;
    if (bytes > bytesMax) stop(tooLarge(bytesMax));
    else if (!fits) stop(tooBusy());
    else if (first === undefined) first = chunk;
    else (others ??= [first]).push(chunk);
  };
  const onEnd = (): void => {
    ended = true;
    resolve(others ? Buffer.concat(others, bytes) : (first ?? empty));
    first = others = undefined;
  };
  const stop = (refused: Fault): void => {
    ended = true;
    req.off("data", onData).off("end", onEnd);
    first = others = undefined;
    resolve(refused);
  };

  req.on("data", onData).on("end", onEnd);
  res.on("close", () => {
    if (!ended) stop(fault("malformed", "the request body was cut short"));
    budget.giveBack(bytes);
  });
}

const tooLarge = (bytesMax: number): Fault =>
  fault("too_large", `quota maxMessageSize exceeded: the body may have ${bytesMax} bytes`);

const tooBusy = (): Fault =>
  fault("overloaded", "too many bytes are being received, come back later");
