/** A collector for tests: takes OTLP over HTTP with JSON, as a real one would, and keeps the spans. */
import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo } from "node:net";
import { eventually } from "./client.ts";
import { type Json, listOf, objectOf, textOf } from "./json.ts";

export type CollectedSpan = {
  readonly service: string;
  readonly name: string;
  /** OTLP's number: 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  readonly kind: unknown;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly links: readonly string[];
  readonly attributes: Readonly<Record<string, string>>;
  /** 2 is an error. */
  readonly status: unknown;
};

export type Collector = {
  readonly url: string;
  readonly spans: readonly CollectedSpan[];
  /** Returns every byte received, headers included. */
  readonly received: () => string;
  /** Resolves as soon as `test` holds for all spans so far. */
  until(test: (spans: readonly CollectedSpan[]) => boolean): Promise<readonly CollectedSpan[]>;
  stop(): Promise<void>;
};

const waitMsMax = 60_000;

export async function startCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  let received = "";
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const text = Buffer.concat(chunks).toString();
      received += `${request.method} ${request.url} ${JSON.stringify(request.headers)} ${text}\n`;
      if (request.url === "/v1/traces") spans.push(...spansIn(objectOf(JSON.parse(text))));
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    received: () => received,
    until: (test) => eventually(() => Promise.resolve(spans), test, waitMsMax),
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

const spansIn = (body: Json): readonly CollectedSpan[] =>
  listOf(body["resourceSpans"]).flatMap((resource) => {
    const { "service.name": service = "" } = attributesOf(objectOf(resource["resource"]));
    return listOf(resource["scopeSpans"]).flatMap((scope) =>
      listOf(scope["spans"]).map((span) => spanFrom(service, span)),
    );
  });

function spanFrom(service: string, span: Json): CollectedSpan {
  const parent = span["parentSpanId"];
  return {
    service,
    name: textOf(span["name"]),
    kind: span["kind"],
    traceId: textOf(span["traceId"]),
    spanId: textOf(span["spanId"]),
    parentSpanId: typeof parent === "string" && parent !== "" ? parent : undefined,
    links: listOf(span["links"] ?? []).map(({ traceId }) => textOf(traceId)),
    attributes: attributesOf(span),
    status: objectOf(span["status"])["code"],
  };
}

/** Turns `[{key, value: {stringValue | intValue | boolValue}}]` into texts. */
const attributesOf = (holder: Json): Readonly<Record<string, string>> =>
  Object.fromEntries(
    listOf(holder["attributes"]).map((attribute) => {
      const [value] = Object.values(objectOf(attribute["value"]));
      return [textOf(attribute["key"]), String(value)];
    }),
  );
