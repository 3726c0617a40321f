/**
 * Hosts a receiver that is not a program of its own, as its platform would: serves the exports of a file of
 * examples/receiver over node:http.
 *
 *   PORT=3000 node tests/e2e/receiver-host.ts FILE
 */
import { createServer, type IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import { type LambdaAnswer, type LambdaEvent } from "@posthaste/client/receiver";

type Fetch = (request: Request) => Promise<Response>;
/** The entry points of Next.js, a Worker and Lambda, of which a file has one. */
type Exports = {
  readonly POST?: Fetch;
  readonly default?: { readonly fetch: Fetch };
  readonly handler?: (event: LambdaEvent) => Promise<LambdaAnswer>;
};

const [, , file = ""] = process.argv;
const loaded = (await import(pathToFileURL(file).href)) as Exports;
const fetches = loaded.POST ?? loaded.default?.fetch;

type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
};

const answerTo = async (request: IncomingMessage): Promise<Answer> => {
  const headers = Object.entries(request.headers).map(([name, value]): [string, string] => [
    name,
    String(value),
  ]);
  const body = await buffer(request);
  if (fetches) {
    const url = `http://127.0.0.1${request.url ?? ""}`;
    const answer = await fetches(new Request(url, { method: "POST", headers, body }));
    const said = Buffer.from(await answer.arrayBuffer());
    return { status: answer.status, headers: Object.fromEntries(answer.headers), body: said };
  }
  if (!loaded.handler) throw new Error(`${file} exports no receiver`);
  const { statusCode: status, ...answer } = await loaded.handler({
    headers: Object.fromEntries(headers),
    body: body.toString("base64"),
    isBase64Encoded: true,
  });
  return { status, headers: answer.headers, body: Buffer.from(answer.body, "base64") };
};

createServer((request, response) => {
  void answerTo(request).then(({ body, headers: given, status }) =>
    response.writeHead(status, given).end(body),
  );
}).listen(Number(process.env["PORT"] ?? 3000));
