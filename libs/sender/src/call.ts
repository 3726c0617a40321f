/**
 * One HTTP call. undici's handler and the caller's `Sending` are one object, since one is made for every attempt.
 *
 * (1) The outcome is given once: by the answer, an error, the deadline or `abort`, whichever is first.
 * (2) Once the head of an answer has come, its status decides, however the body ends; only `abort` of an answer other
 *     than 2xx is still an abort (docs/design/delivery#failures-of-the-destination-and-of-ours).
 * (3) A call is repeated once, at once and within its deadline, if a kept connection ended before a byte of the
 *     answer came: most likely it was closed before the request arrived
 *     (docs/design/delivery#a-kept-connection-that-ends).
 */
import {
  type BrokenBy,
  type HeaderPair,
  type Headers,
  type Outcome,
  type Share,
  type Shares,
  type TenantId,
} from "@posthaste/domain";
import { type OutgoingRequest, type Sending } from "@posthaste/ports";
import { type Dispatcher } from "undici";
import { type Connection, type OriginPool, type OriginPools } from "./origin-pool.ts";
import { type Counts } from "./counts.ts";
import { type Deadline, type Deadlines } from "./deadlines.ts";
import { isLost, requestFailure, unreachableBy } from "./failure.ts";

export type CallPorts = {
  readonly pools: OriginPools;
  readonly deadlines: Deadlines;
  readonly counts: Counts;
  /** The shared budget for answers, including answers that are complete and still in use. */
  readonly answerBytes: Shares;
};

const informationalMax = 16;
const headersMax = 128;

export class Call implements Sending, Deadline, AnswerBudget, Dispatcher.DispatchHandler {
  readonly outcome: Promise<Outcome>;
  readonly at: number;
  place: number | undefined;
  readonly #ports: CallPorts;
  readonly #pool: OriginPool;
  readonly #options: Dispatcher.DispatchOptions;
  readonly #timeoutMs: number;
  readonly #tenant: TenantId;
  #resolve: ((outcome: Outcome) => void) | undefined;
  #connection: Connection;
  #isAnswered = false;
  #informational = 0;
  #status = 0;
  #headers: Headers = [];
  readonly #body: AnswerBody;
  /** The call's share of the bytes for answers, once it has needed any. */
  #share: Share | undefined;

  constructor(
    request: OutgoingRequest,
    options: Dispatcher.DispatchOptions,
    at: number,
    pool: OriginPool,
    ports: CallPorts,
  ) {
    this.outcome = new Promise((resolve) => (this.#resolve = resolve));
    this.at = at;
    this.#ports = ports;
    this.#pool = pool;
    this.#options = options;
    this.#timeoutMs = request.timeoutMs;
    this.#tenant = request.tenant;
    this.#body = new AnswerBody(request.responseBytesMax);
    this.#connection = pool.connection();
  }

  get address(): string | undefined {
    return this.#connection.network;
  }

  start(): void {
    this.#ports.deadlines.add(this);
    this.#connection.call = this;
    this.#connection.dispatch(this.#options, this);
  }

  abort(): void {
    this.#end(
      this.#status >= 200 && this.#status <= 299 ? this.#cutAnswer("abort") : { kind: "aborted" },
    );
  }

  forget(): void {
    this.#share?.giveBack();
  }

  takeBytes(bytes: number): boolean {
    this.#share ??= this.#ports.answerBytes.open(this.#tenant, this.address);
    return this.#share.take(bytes);
  }

  expire(): void {
    this.#cut(unreachableBy("timeout", `no answer within ${this.#timeoutMs} ms`));
  }

  /** Required by undici. */
  onRequestStart(): void {}

  /** Called at the first byte of an answer, even an informational one. */
  onResponseStarted(): void {
    this.#isAnswered = true;
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[]>,
  ): void {
    if (this.#resolve === undefined) return;
    if (status < 200) {
      if (++this.#informational > informationalMax)
        this.#end(
          unreachableBy("protocol_error", `more than ${informationalMax} informational answers`),
        );
      return;
    }
    if (Array.isArray(controller.rawHeaders) && controller.rawHeaders.length > 2 * headersMax)
      return this.#end(
        unreachableBy("header_overflow", `the answer has more than ${headersMax} headers`),
      );
    this.#status = status;
    this.#headers = pairsOf(headers);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    if (this.#resolve === undefined) return;
    if (this.#body.add(chunk, this)) return;
    this.#end(this.#body.isFull ? this.#answer(true) : this.#cutAnswer("room"));
  }

  onResponseEnd(): void {
    // undici takes a reset for the end of a body without a length.
    if (this.#connection.hasFailed) this.#end(this.#cutAnswer("destination"));
    else this.#end(this.#answer(false), "keep");
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    if (this.#resolve === undefined) return;
    const failure = requestFailure(error);
    if (this.#isAnswered || !this.#connection.isReused || !isLost(failure))
      return this.#cut(failure);
    this.#ports.counts.movedToFresh++;
    this.#pool.drop(this.#connection);
    this.#connection = this.#pool.freshConnection();
    this.#connection.call = this;
    this.#connection.dispatch(this.#options, this);
  }

  /** Ends the call: before the head of an answer with the failure, after it with the answer and the body so far. */
  #cut(failure: Outcome): void {
    this.#end(this.#status === 0 ? failure : this.#cutAnswer("destination"));
  }

  #cutAnswer(brokenBy: BrokenBy): Outcome {
    return { ...this.#answer(true), brokenBy };
  }

  #answer(truncated: boolean): Outcome & { readonly kind: "answered" } {
    return {
      kind: "answered",
      status: this.#status,
      headers: this.#headers,
      body: this.#body.bytes,
      truncated,
    };
  }

  #end(outcome: Outcome, connection: "keep" | "drop" = "drop"): void {
    const resolve = this.#resolve;
    if (resolve === undefined) return;
    this.#resolve = undefined;
    this.#ports.deadlines.remove(this);
    this.#connection.call = undefined;
    if (connection === "keep") this.#pool.keep(this.#connection);
    else this.#pool.drop(this.#connection);
    this.#ports.pools.giveBack(this.#pool);
    resolve(outcome);
  }
}

function pairsOf(headers: Readonly<Record<string, string | string[]>>): Headers {
  const pairs: HeaderPair[] = [];
  for (const name of Object.keys(headers)) {
    const value = headers[name];
    if (typeof value === "string") pairs.push([name, value]);
    else for (const each of value ?? []) pairs.push([name, each]);
  }
  return pairs;
}

const firstBytes = 1_024;
/** Each call may hold this much of an answer; more comes from a budget that all calls share. */
export const unbudgetedBytes = 16 * 1024;

export type AnswerBudget = {
  /** Returns false when there are no more bytes to grant. */
  takeBytes(bytes: number): boolean;
};

/**
 * The body of an answer while it arrives, in one growing buffer. Chunks are copied at once: a chunk is a view of the socket's whole read
 * buffer, and a destination may send a million of one byte each. Above `unbudgetedBytes` the buffer grows only by granted bytes, since
 * thousands of destinations may send almost all of an answer and stop.
 */
export class AnswerBody {
  readonly #bytesMax: number;
  #buffer: Buffer = nothing;
  #length = 0;
  #given = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Returns false when the body exceeds `bytesMax` or its budget, and is cut there. */
  add(chunk: Uint8Array, budget: AnswerBudget): boolean {
    const wanted = Math.min(this.#length + chunk.length, this.#bytesMax);
    if (wanted > this.#buffer.length) this.#grow(wanted, budget);
    const length = Math.min(wanted, this.#buffer.length);
    this.#buffer.set(chunk.subarray(0, length - this.#length), this.#length);
    const fits = this.#length + chunk.length === length;
    this.#length = length;
    return fits;
  }

  get bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }

  get isFull(): boolean {
    return this.#length === this.#bytesMax;
  }

  get given(): number {
    return this.#given;
  }

  /** Most answers are one chunk, which fits exactly. Each byte of a longer one is copied twice at most, on average. */
  #grow(length: number, budget: AnswerBudget): void {
    const isFirst = this.#length === 0;
    const capacity = isFirst ? length : Math.max(length, 2 * this.#buffer.length, firstBytes);
    const grown = Buffer.allocUnsafe(this.#granted(Math.min(capacity, this.#bytesMax), budget));
    this.#buffer.copy(grown, 0, 0, this.#length);
    this.#buffer = grown;
  }

  /** Returns how much of the wanted capacity is granted, at least the present capacity. */
  #granted(capacity: number, budget: AnswerBudget): number {
    const more = Math.max(0, capacity - unbudgetedBytes - this.#given);
    if (more === 0) return capacity;
    if (!budget.takeBytes(more))
      return Math.max(this.#buffer.length, Math.min(capacity, unbudgetedBytes));
    this.#given += more;
    return capacity;
  }
}

const nothing = Buffer.alloc(0);
