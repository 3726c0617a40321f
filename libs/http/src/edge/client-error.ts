/** Answers bytes that are not an HTTP request. The parser has given up, so the text is written to the socket as it is. */
import { type IncomingMessage, ServerResponse } from "node:http";
import { type Duplex } from "node:stream";

const lingerMs = 1_000;

type After = (ms: number, task: () => void) => () => void;

/** Sockets answered already: the parser reports every further chunk of the same broken request. */
const answered = new WeakSet<Duplex>();

export function answerClientError(
  error: NodeJS.ErrnoException,
  socket: Duplex,
  after: After,
): void {
  if (answered.has(socket)) return;
  answered.add(socket);
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const response = responseUnderWay(socket);
  if (response?.req.complete && !response.writableEnded) {
    // The broken bytes came after a whole request, whose answer is still to come and is the last here.
    response.shouldKeepAlive = false;
    response.once("finish", () => socket.end());
    return;
  }
  // A second status line inside an answer under way would corrupt it.
  endAndLinger(socket, response?.headersSent ? "" : textFor(error.code), after);
}

/** Refuses a tunnel like any other method that is not allowed, since the server is no proxy. Node reads nothing more from `socket`. */
export function answerConnect(socket: Duplex, after: After): void {
  socket.on("error", () => socket.destroy()).resume();
  endAndLinger(socket, text("405 Method Not Allowed", "CONNECT is not allowed here"), after);
}

/** Ends the socket, and gives the caller a second to read the answer: unread bytes would turn the close into a reset. */
function endAndLinger(socket: Duplex, answer: string, after: After): void {
  socket.end(answer);
  const callOff = after(lingerMs, () => socket.destroy());
  socket.once("close", callOff);
}

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
  return `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nX-Content-Type-Options: nosniff\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`;
}
