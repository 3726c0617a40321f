/** Answers to what is no HTTP request: the parser has given up, so the text goes to the socket as it is. */
import { type IncomingMessage, ServerResponse } from "node:http";
import { type Duplex } from "node:stream";

const lingerMs = 1_000;

export function answerClientError(
  error: NodeJS.ErrnoException,
  socket: Duplex,
  after: (ms: number, task: () => void) => () => void,
): void {
  // The parser reports every further chunk of the same broken request.
  if (socket.writableEnded) return;
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const response = responseUnderWay(socket);
  if (response?.req.complete && !response.writableEnded) {
    // The broken bytes came behind a whole request, whose answer is still to come: it is the last one here.
    response.shouldKeepAlive = false;
    response.once("finish", () => socket.end());
    return;
  }
  // A second status line inside an answer that has begun would corrupt it.
  if (response?.headersSent) socket.end();
  else socket.end(textFor(error.code));
  // The caller has this long to read the answer: bytes that we left unread would turn the close into a reset.
  const callOff = after(lingerMs, () => socket.destroy());
  socket.once("close", callOff);
}

/** Node keeps it on the socket. */
function responseUnderWay(socket: Duplex): ServerResponse<IncomingMessage> | undefined {
  const response: unknown = "_httpMessage" in socket ? socket._httpMessage : undefined;
  return response instanceof ServerResponse ? response : undefined;
}

function textFor(code: string | undefined): string {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return text("431 Request Header Fields Too Large", "the headers are too large");
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return text("413 Payload Too Large", "the chunk extensions are too large");
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return text("408 Request Timeout", "the request took too long");
    case undefined:
    default:
      return text("400 Bad Request", "this is not a valid HTTP request");
  }
}

function text(status: string, error: string): string {
  const body = JSON.stringify({ error });
  return `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`;
}
