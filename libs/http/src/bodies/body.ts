/**
 * Reads bodies, within the memory that the process has for them. The arriving bytes count; a Content-Length is believed
 * only when it is too large.
 */
import { type IncomingMessage, type ServerResponse } from "node:http";
import { fault, type Fault, networkOf, Places } from "@posthaste/domain";
import { type Clock } from "@posthaste/ports";
import { expectsContinue } from "../answers/answer.ts";

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

/** Responses that closed before an answer, while work on their bodies continues. */
const abandoned = new WeakMap<ServerResponse, () => void>();
/** Responses whose work ended without an answer, and which may not have closed yet. */
const withoutAnswer = new WeakSet<ServerResponse>();

/** Must be called at the end of all work on a request. Otherwise the body of a caller that has disconnected would be charged for ever. */
export function workEnded(res: ServerResponse): void {
  if (res.writableEnded) return;
  withoutAnswer.add(res);
  abandoned.get(res)?.();
}

/** The first buffer for several chunks; it doubles, so that a body in one-byte chunks costs no more than twice its size. */
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

  /** Returns a buffer for `bytes` bytes that holds the first `from` of them. */
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

  /** Must be called once. A body much smaller than its buffer gets one of its own, since it may be kept for long. */
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

/** The tenant that is charged, and the calling address (for IPv6 its /64). */
type BodyOwner = { readonly tenant: string; readonly address: string };

export type BodyBudget = {
  open(owner: BodyOwner, onSlow: () => void): Upload;
  /** Returns false when not even a byte fits now. */
  hasRoom(owner: BodyOwner): boolean;
  readonly taken: number;
};

type Upload = {
  /** Takes bytes. Returns false when they do not fit, or all bytes were given back already; then nothing is taken. */
  take(bytes: number): boolean;
  /** The body has arrived whole: its pace is no longer watched. */
  arrived(): void;
  /** Gives the bytes back. May be called again. */
  giveBack(): void;
};

type Bounds = {
  readonly bytesMax: number;
  /** The bound of a tenant in the reserve. Above the longest body, so that every caller can send one. */
  readonly tenantBytesMax: number;
  /** The bound of an address in the reserve. Several tenants may be behind one address. */
  readonly addressBytesMax: number;
};

const mebibyte = 1024 * 1024;
const bounds: Bounds = {
  bytesMax: 128 * mebibyte,
  tenantBytesMax: 16 * mebibyte,
  addressBytesMax: 48 * mebibyte,
};

const lookEveryMs = 5_000;
/** The part of an upload's bytes that has to arrive between two looks: for 10 MiB, 32 KiB a second. */
const partPerLook = 1 / 64;

type Watched = {
  /** The place among the watched uploads; undefined once the pace does not matter. */
  place?: number | undefined;
  bytes: number;
  reserved: number;
  before: number | undefined;
  readonly onSlow: () => void;
};

/**
 * The memory for bodies. Owns how many bytes of the bodies of a process have arrived and are in use, and by which
 * owner. Announced bytes do not count: they cost nothing until they arrive.
 *
 * (1) Any caller may take the first half of the bytes. Of the other half, the reserve, no tenant and no address has
 *     more than its share, so that a caller that sends much, slowly, or never to the end leaves room for the rest.
 * (2) An upload keeps pace with the bytes that it holds, or is told that it is too slow. A caller that holds little
 *     may take its time: Node ends each request after a minute.
 */
export function createBodyBudget(clock: Clock, changed: Partial<Bounds> = {}): BodyBudget {
  const { bytesMax, tenantBytesMax, addressBytesMax } = { ...bounds, ...changed };
  // Bytes of the reserve alone: a request that fits beside the reserve needs no look-up.
  const byTenant = new Map<string, number>();
  const byAddress = new Map<string, number>();
  // Not a Set, whose tables would keep bodies and their requests alive (ADR 11).
  const watched = new Places<Watched>();
  let taken = 0;
  let looks = false;

  const besideReserve = bytesMax / 2;
  const fitsInReserve = ({ tenant, address }: BodyOwner, bytes: number): boolean =>
    taken + bytes <= bytesMax &&
    (byTenant.get(tenant) ?? 0) + bytes <= tenantBytesMax &&
    (byAddress.get(networkOf(address)) ?? 0) + bytes <= addressBytesMax;

  const reserve = ({ tenant, address }: BodyOwner, bytes: number): void => {
    add(byTenant, tenant, bytes);
    add(byAddress, networkOf(address), bytes);
  };

  const lookLater = (): void => {
    looks = true;
    clock.after(lookEveryMs, look);
  };

  function look(): void {
    looks = false;
    for (const upload of [...watched.values()]) {
      const { before, bytes } = upload;
      upload.before = bytes;
      // Compares with the last look; an upload that is new is not judged yet.
      if (before !== undefined && bytes - before <= bytes * partPerLook) {
        unwatch(upload);
        upload.onSlow();
      }
    }
    if (watched.size > 0) lookLater();
  }

  function unwatch(upload: Watched): void {
    if (upload.place === undefined) return;
    watched.remove(upload.place);
    upload.place = undefined;
  }

  return {
    open: (owner, onSlow) => {
      const upload: Watched = { bytes: 0, reserved: 0, before: undefined, onSlow };
      let isOver = false;
      upload.place = watched.add(upload);
      if (!looks) lookLater();
      return {
        take: (bytes) => {
          if (isOver) return false;
          if (taken + bytes > besideReserve) {
            if (!fitsInReserve(owner, bytes)) return false;
            reserve(owner, bytes);
            upload.reserved += bytes;
          }
          upload.bytes += bytes;
          taken += bytes;
          return true;
        },
        arrived: () => unwatch(upload),
        giveBack: () => {
          if (isOver) return;
          isOver = true;
          unwatch(upload);
          taken -= upload.bytes;
          if (upload.reserved > 0) reserve(owner, -upload.reserved);
        },
      };
    },
    hasRoom: (owner) => taken + 1 <= besideReserve || fitsInReserve(owner, 1),
    get taken() {
      return taken;
    },
  };
}

function add(counts: Map<string, number>, key: string, bytes: number): void {
  const count = (counts.get(key) ?? 0) + bytes;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}
