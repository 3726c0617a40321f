/** A destination to try deliveries with. Prints every arrival as one line and answers 200. */
import { createServer, type IncomingMessage } from "node:http";
import { loopback } from "./process/ports.ts";

export type Catcher = { readonly url: string; close(): void };

const shownLengthMax = 200;

export function openCatcher(port: number, print: (line: string) => void): Promise<Catcher> {
  const server = createServer((request, response) => {
    let bytes = 0;
    request.on("data", (chunk: Buffer) => (bytes += chunk.length));
    request.on("end", () => {
      print(lineOf(request, bytes));
      response.end('{"caught":true}');
    });
  });
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, host: loopback }, () => {
      resolve({
        url: `http://${loopback}:${port}`,
        close: () => {
          server.close();
          server.closeAllConnections();
        },
      });
    });
  });
}

/** `caught  POST /hello  17 B  msg_…  retried 0` */
function lineOf({ method, url, headers }: IncomingMessage, bytes: number): string {
  const ours = (name: string) => String(headers[`service-${name}`] ?? headers[`upstash-${name}`]);
  return [
    "caught",
    `${method} ${visible(url ?? "")}`,
    `${bytes} B`,
    visible(ours("message-id")),
    `retried ${visible(ours("retried"))}`,
  ].join("  ");
}

/** Keeps a line a line: every program on this host may send to the catcher. */
const visible = (text: string) => text.slice(0, shownLengthMax).replace(/[^\x20-\x7e]/g, "?");
