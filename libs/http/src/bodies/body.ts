/** Reads bodies. The arriving bytes count; a Content-Length is believed only when it is too large. */
import { type IncomingMessage, type ServerResponse } from "node:http";
import { fault, type Fault } from "@posthaste/domain";
import { expectsContinue } from "../answers/answer.ts";
import { type BodyBudget, type BodyOwner } from "./body-budget.ts";

export type ReadBodyOptions = {
  readonly bytesMax: number;
  readonly budget: BodyBudget;
  readonly owner: BodyOwner;
};

const empty = new Uint8Array(0);

/**
 * Resolves to the whole body, or a fault: `too_large`, `overloaded` (the budget), `timed_out`, `malformed` (the
 * caller went away half-way). The budget gets its bytes back when the response closes, since until then the body is
 * in use; if the caller went away before its answer, when the work has ended (`workEnded`). A body that came in one
 * chunk is that chunk.
 */
export function readBody(
  res: ServerResponse<IncomingMessage>,
  options: ReadBodyOptions,
): Promise<Uint8Array | Fault> {
  const { req } = res;
  const { budget, bytesMax, owner } = options;
  const declared = req.headers["content-length"];
  if (declared === undefined && req.headers["transfer-encoding"] === undefined) {
    return Promise.resolve(empty);
  }
  const declaredBytes = declared === undefined ? undefined : Number(declared);
  if (declaredBytes !== undefined && declaredBytes > bytesMax)
    return Promise.resolve(tooLarge(bytesMax));
  if (!budget.hasRoom(owner)) return Promise.resolve(tooBusy);
  if (expectsContinue(req)) res.writeContinue();
  return new Promise((resolve) => collect(res, options, declaredBytes, resolve));
}

function collect(
  res: ServerResponse<IncomingMessage>,
  { budget, bytesMax, owner }: ReadBodyOptions,
  declaredBytes: number | undefined,
  resolve: (body: Uint8Array | Fault) => void,
): void {
  const { req } = res;
  const collected = new Collected(declaredBytes ?? bytesMax);
  let ended = false;

  const onData = (chunk: Uint8Array): void => {
    if (collected.bytes + chunk.length > bytesMax) stop(tooLarge(bytesMax));
    else if (!upload.take(chunk.length)) stop(tooBusy);
    else collected.add(chunk);
  };
  const onEnd = (): void => {
    ended = true;
    upload.arrived();
    resolve(collected.whole());
  };
  const stop = (refused: Fault): void => {
    ended = true;
    req.off("data", onData).off("end", onEnd);
    collected.forget();
    upload.giveBack();
    resolve(refused);
  };
  const upload = budget.open(owner, () => stop(tooSlow));

  req.on("data", onData).on("end", onEnd);
  res.on("close", () => {
    if (!ended) stop(fault("malformed", "the request body was cut short"));
    else if (res.writableEnded || withoutAnswer.has(res)) upload.giveBack();
    else abandoned.set(res, () => upload.giveBack());
  });
}

/** Responses that closed before an answer, while work on their bodies goes on. */
const abandoned = new WeakMap<ServerResponse, () => void>();
/** Responses whose work ended without an answer, and which may not have closed yet. */
const withoutAnswer = new WeakSet<ServerResponse>();

/** Must be called at the end of all work on a request. Otherwise the body of a caller that has gone would be charged for ever. */
export function workEnded(res: ServerResponse): void {
  if (res.writableEnded) return;
  withoutAnswer.add(res);
  abandoned.get(res)?.();
}

/** The first room for several chunks; it doubles, so that a body in one-byte chunks costs no more than twice its size. */
const roomBytesMin = 16 * 1024;

/** Joins chunks: each kept chunk would keep the whole block that it was read into. */
class Collected {
  readonly #bytesMax: number;
  #first: Uint8Array | undefined;
  #room: Uint8Array | undefined;
  bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  add(chunk: Uint8Array): void {
    const from = this.bytes;
    this.bytes += chunk.length;
    if (from === 0) {
      this.#first = chunk;
      return;
    }
    this.#roomFor(from).set(chunk, from);
  }

  /** Returns room for `bytes` bytes that holds the first `from` of them. */
  #roomFor(from: number): Uint8Array {
    if (this.#room && this.#room.length >= this.bytes) return this.#room;
    const wanted = Math.max(2 * this.bytes, roomBytesMin);
    const room = Buffer.allocUnsafeSlow(Math.max(this.bytes, Math.min(wanted, this.#bytesMax)));
    const before = this.#room ?? this.#first ?? empty;
    room.set(before.subarray(0, from));
    this.#first = undefined;
    this.#room = room;
    return room;
  }

  /** Must be called once. A body much smaller than its room gets one of its own, since it may be kept for long. */
  whole(): Uint8Array {
    const room = this.#room;
    const body = room ? room.subarray(0, this.bytes) : (this.#first ?? empty);
    this.forget();
    return room && body.length < (room.length * 3) / 4 ? new Uint8Array(body) : body;
  }

  forget(): void {
    this.#first = this.#room = undefined;
  }
}

const tooLarge = (bytesMax: number): Fault =>
  fault("too_large", `quota maxMessageSize exceeded: the body may have at most ${bytesMax} bytes`);

const tooBusy: Fault = fault("overloaded", "too many bytes are being received, come back later");

const tooSlow: Fault = fault("timed_out", "the body arrives too slowly");
