/** Sends answers that are never held whole: a piece is made when the one before it has left the process. */
import { type ServerResponse } from "node:http";
import { type Pieces, type ReadPermit } from "@posthaste/contract";
import { type Fault, isFault } from "@posthaste/domain";
import { type AnswerLimiter, type AnswerStream } from "./answer-limiter.ts";
import { answer, jsonHeaders, type FlatHeaders, noHeaders } from "./answer.ts";

export type StreamedReply = {
  readonly status: number;
  /** Called with the permit of the first piece. */
  readonly read: (permit: ReadPermit) => Promise<Pieces | Fault>;
  /** The owner whose share of the limits the answer takes, or the stream of an answer that may not be refused any more. */
  readonly owner: string | AnswerStream;
  /** Sent in addition to the headers of the read. */
  readonly headers?: FlatHeaders;
};

const textLengthMin = 64 * 1024;
/** A caller that accepts nothing of a piece for this long is cut off. */
const stalledMsMax = 30_000;

/**
 * Sends the answer. If a fault is returned or thrown, nothing was sent yet and the caller of this function answers
 * it. A failure after the first piece cuts the connection, by which the caller knows that the answer is incomplete.
 */
export async function sendStreamed(
  res: ServerResponse,
  { status, read, owner, headers: given = noHeaders }: StreamedReply,
  options: {
    readonly limiter: AnswerLimiter;
    readonly after: (ms: number, task: () => void) => () => void;
    readonly cut: (error: unknown) => void;
  },
): Promise<Fault | undefined> {
  const stream = typeof owner === "string" ? options.limiter.open(owner) : owner;
  if (isFault(stream)) return stream;
  let iterator: AsyncIterator<string | Fault> | undefined;
  let headers = given;
  let isDone = false;
  let refusal: Fault | undefined;
  let hasBegun = false;
  const begin = async (permit: ReadPermit): Promise<string> => {
    hasBegun = true;
    const begun = await read(permit);
    if (isFault(begun)) {
      refusal = begun;
      return "";
    }
    if (begun.headers) headers = [...begun.headers, ...given];
    if ("text" in begun) {
      isDone = true;
      return begun.text;
    }
    iterator = begun.pieces[Symbol.asyncIterator]();
    return "";
  };
  try {
    while (!isDone && !res.destroyed) {
      const { text, sent } = await stream.piece(async (permit) => {
        // Nothing is read for a caller that went away while it waited.
        let made = hasBegun || res.destroyed ? "" : await begin(permit);
        // Small pieces are joined; a short answer is sent like any other.
        while (iterator && !isDone && made.length < textLengthMin && !res.destroyed) {
          const next = await iterator.next();
          isDone = next.done === true;
          if (next.done === true) break;
          if (isFault(next.value)) refusal = next.value;
          else made += next.value;
          if (refusal) break;
        }
        return { text: made, isLast: isDone };
      });
      try {
        if (refusal) return refusedBefore(res, refusal);
        await sendPiece(res, { text, isDone, status, headers }, options.after);
      } finally {
        sent();
      }
    }
    if (isDone && !res.writableEnded) res.end();
  } catch (error) {
    if (!res.headersSent) throw error;
    options.cut(error);
    res.destroy();
  } finally {
    stream.close();
    await iterator?.return?.();
  }
  return undefined;
}

function refusedBefore(res: ServerResponse, refusal: Fault): Fault {
  if (res.headersSent) throw new Error(`refused within an answer: ${refusal.text}`);
  return refusal;
}

/** Sends a piece, or the whole answer if the first piece is the last, and waits until it has left the process. */
async function sendPiece(
  res: ServerResponse,
  piece: { text: string; isDone: boolean; status: number; headers: FlatHeaders },
  after: (ms: number, task: () => void) => () => void,
): Promise<void> {
  const { text, isDone, status, headers } = piece;
  if (res.destroyed) return;
  if (isDone && !res.headersSent) {
    answer(res, status, text, headers);
    // The kernel takes a short answer at once.
    if (res.socket?.writableLength !== 0) await flushed(res, after);
    return;
  }
  if (!res.headersSent) res.writeHead(status, [...jsonHeaders, ...headers]);
  if (text !== "") await flushed(res, after, text);
}

/** Resolves when the kernel has `text` (without `text`: the whole answer), or when the connection is closed. */
function flushed(
  res: ServerResponse,
  after: (ms: number, task: () => void) => () => void,
  text?: string,
): Promise<void> {
  return new Promise((resolve) => {
    const callOff = after(stalledMsMax, () => res.destroy());
    const done = (): void => {
      callOff();
      res.off("close", done).off("finish", done);
      resolve();
    };
    res.once("close", done);
    if (text === undefined) res.once("finish", done);
    else res.write(text, done);
  });
}
