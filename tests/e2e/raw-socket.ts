/** Exchanges raw bytes on a socket, until the server closes it: requests that no HTTP client would send. */
import { once } from "node:events";
import { connect } from "node:net";
import { expectDocumented } from "./documented.ts";
import { textOf, objectOf } from "./json.ts";
import { developmentToken } from "./server-process.ts";

export type RawAnswer = { readonly status: number; readonly head: string; readonly body: string };

/** Rejects when the server leaves the connection open for longer than `msMax`. */
export async function exchange(
  port: number,
  bytes: string | Uint8Array,
  msMax = 10_000,
): Promise<readonly RawAnswer[]> {
  const socket = connect(port, "127.0.0.1");
  let text = "";
  socket.setEncoding("latin1").on("data", (chunk: string) => (text += chunk));
  // A reset after the answer is as good as a close.
  socket.on("error", () => undefined);
  socket.setTimeout(msMax, () => socket.destroy(new Error("still open")));
  socket.write(bytes);
  await once(socket, "close");
  return answersIn(text);
}

/** Returns the only answer, which the document must list if the bytes are a request. */
export async function answerTo(port: number, bytes: string | Uint8Array): Promise<RawAnswer> {
  const [first, ...others] = await exchange(port, bytes);
  if (!first || others.length > 0) throw new Error(`${others.length + (first ? 1 : 0)} answers`);
  const asked = requestLine.exec(Buffer.from(bytes).toString("latin1"));
  if (asked) {
    const [, method = "", path = ""] = asked;
    const [, contentType] = /^content-type: (.*)\r$/im.exec(first.head) ?? [];
    const text = Buffer.from(first.body, "latin1").toString();
    expectDocumented({ method, path, status: first.status, contentType, text });
  }
  return first;
}

const requestLine = /^([A-Z]+) (\/[!-~]*) HTTP\/1\.1\r\n/;

/** Returns an authorized request that asks the server to close afterwards. */
export const rawRequest = (line: string, headers: readonly string[] = [], body = ""): string =>
  [
    line,
    "Host: a",
    "Connection: close",
    `Authorization: Bearer ${developmentToken}`,
    ...headers,
    "",
    body,
  ].join("\r\n");

export const errorOf = (answer: RawAnswer): string =>
  textOf(objectOf(JSON.parse(answer.body))["error"]);

function answersIn(text: string): RawAnswer[] {
  const answers: RawAnswer[] = [];
  for (let rest = text; rest !== "";) {
    const headEnd = rest.indexOf("\r\n\r\n") + 4;
    const head = rest.slice(0, headEnd);
    const isChunked = /transfer-encoding: chunked/i.test(head);
    const { body, bytes } = (isChunked ? chunksOf : wholeOf)(rest.slice(headEnd), head);
    answers.push({ status: Number(head.slice(9, 12)), head, body });
    rest = rest.slice(headEnd + bytes);
  }
  return answers;
}

/** `bytes`: the length on the wire. */
type Body = { readonly body: string; readonly bytes: number };

function wholeOf(text: string, head: string): Body {
  const bytes = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
  return { body: text.slice(0, bytes), bytes };
}

function chunksOf(text: string): Body {
  const lineEnd = "\r\n";
  let body = "";
  for (let from = 0; ;) {
    const sizeEnd = text.indexOf(lineEnd, from);
    const size = Number.parseInt(text.slice(from, sizeEnd), 16);
    if (Number.isNaN(size)) throw new Error(`no size of a chunk at ${from}: ${text}`);
    const chunkFrom = sizeEnd + lineEnd.length;
    from = chunkFrom + size + lineEnd.length;
    if (size === 0) return { body, bytes: from };
    body += text.slice(chunkFrom, chunkFrom + size);
  }
}
