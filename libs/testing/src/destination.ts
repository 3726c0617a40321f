/**
 * A destination on 127.0.0.1 with answers of the test, byte by byte if necessary, which keeps the requests. It speaks
 * just enough HTTP/1.1 to find the end of a request with a Content-Length.
 */
import { createServer, type Socket } from "node:net";

type Received = {
  /** The request line and the header lines, as they came. */
  readonly head: readonly string[];
  readonly body: Uint8Array;
};

export type Destination = {
  readonly url: string;
  readonly requests: readonly Received[];
  close(): Promise<void>;
};

/** Called once per request; writes the answer. */
export type Respond = (socket: Socket, request: Received) => void;

export async function openDestination(respond: Respond): Promise<Destination> {
  const requests: Received[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
    readRequests(socket, (request) => {
      requests.push(request);
      respond(socket, request);
    });
  });
  const port = await new Promise<number>((resolve, reject) => {
    server.on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : 0);
    });
  });
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** Writes `HTTP/1.1 <status>` with these header lines and this body. */
export function answer(
  socket: Socket,
  status: string,
  body: string | Uint8Array = "",
  headers: readonly string[] = [],
): void {
  const bytes = Buffer.from(body);
  const lines = [`HTTP/1.1 ${status}`, ...headers, `Content-Length: ${bytes.length}`, "", ""];
  socket.write(Buffer.concat([Buffer.from(lines.join("\r\n"), "latin1"), bytes]));
}

const headEnd = Buffer.from("\r\n\r\n");

function readRequests(socket: Socket, received: (request: Received) => void): void {
  let pending = Buffer.alloc(0);
  socket.on("data", (chunk) => {
    pending = Buffer.concat([pending, chunk]);
    for (let request = firstOf(pending); request; request = firstOf(pending)) {
      pending = pending.subarray(request.length);
      received(request);
    }
  });
}

function firstOf(bytes: Buffer): (Received & { readonly length: number }) | undefined {
  const end = bytes.indexOf(headEnd);
  if (end < 0) return undefined;
  const head = bytes.subarray(0, end).toString("latin1").split("\r\n");
  const bodyAt = end + headEnd.length;
  const length = bodyAt + contentLengthOf(head);
  return bytes.length < length ? undefined : { head, body: bytes.subarray(bodyAt, length), length };
}

function contentLengthOf(head: readonly string[]): number {
  const line = head.find((each) => /^content-length:/i.test(each));
  return Number(line?.slice(line.indexOf(":") + 1) ?? 0);
}
