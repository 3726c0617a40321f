/** Answers to what is no HTTP request: the parser has given up, so the text goes to the socket as it is. */
import { type Duplex } from "node:stream";

const lingerMs = 1_000;

export function answerClientError(
  error: NodeJS.ErrnoException,
  socket: Duplex,
  after: (ms: number, task: () => void) => () => void,
): void {
  // The parser reports every further chunk of the same broken request.
  if (socket.writableEnded) return;
  if (error.code === "ECONNRESET" || !socket.writable || isBeingAnswered(socket)) {
    socket.destroy();
    return;
  }
  socket.end(textFor(error.code));
  // The caller has this long to read the answer: bytes that we left unread would turn the close into a reset.
  after(lingerMs, () => socket.destroy());
}

/** A second status line inside a response that has begun would corrupt it. Node keeps the response on its socket. */
function isBeingAnswered(socket: Duplex): boolean {
  const current: unknown = "_httpMessage" in socket ? socket._httpMessage : undefined;
  return (
    typeof current === "object" &&
    current !== null &&
    "headersSent" in current &&
    current.headersSent === true
  );
}

function textFor(code: string | undefined): string {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return text("431 Request Header Fields Too Large", "the headers are too large");
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return text("413 Payload Too Large", "the chunk extensions are too large");
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return text("408 Request Timeout", "the request took too long");
    default:
      return text("400 Bad Request", "this is not a valid HTTP request");
  }
}

function text(status: string, error: string): string {
  const body = JSON.stringify({ error });
  return `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`;
}
