/**
 * A process of its own, `node --expose-gc`: gives each endpoint that reads a body the largest bodies of every hostile
 * shape, and prints the memory that they took, as JSON.
 */
import { defaultPlan, isFault } from "@posthaste/domain";
import * as z from "zod";
import { jsonBytesMax } from "../bodies/json.ts";
import { parseContext, publish } from "../headers/publish-input.fixture.ts";
import { managementEndpoints } from "../management/index.ts";
import { type BatchContext } from "./batch.ts";
import { type Endpoint } from "./endpoint.ts";
import { gatewayEndpoints } from "./index.ts";

type Taken = {
  readonly endpoint: string;
  readonly shape: string;
  readonly bytes: number;
  /** The most memory in use while reading, beyond that before. */
  readonly takenBytes: number;
};

type Body = Pick<Endpoint["body"], "bytesMax" | "schema" | "parse">;

const ofRun = { "Upstash-Workflow-RunId": "wfr_1" };
const invoking = { "Upstash-Workflow-Init": "true", "Upstash-Workflow-Invoke": "true" };
const bodyOfRun = (more: object, schema: z.ZodType): Body => ({
  schema,
  bytesMax: defaultPlan.bodyBytesMax,
  parse: (body) => publish({ ...ofRun, ...more }, { body }),
});

const bodies: Readonly<Record<string, Body>> = {
  ...Object.fromEntries(
    Object.entries<Pick<Endpoint, "body">>({ ...gatewayEndpoints, ...managementEndpoints }).map(
      ([id, { body }]) => [id, body],
    ),
  ),
  "publish for a step": bodyOfRun({}, z.object({ stepId: z.int(), out: z.string() })),
  "publish for an invocation": bodyOfRun(
    invoking,
    z.object({ body: z.string(), workflowUrl: z.string() }),
  ),
};

const wholes: Readonly<Record<string, readonly [opens: string, repeated: string, closes: string]>> =
  {
    "[]": ["[", "[],", "0]"],
    "{}": ["[", "{},", "0]"],
    '""': ["[", '"",', "0]"],
    0: ["[", "0,", "0]"],
    names: ["{", '"":0,', '"":0}'],
    depth: ["", "[", ""],
    text: ['"', "a", '"'],
    "wide text": ['"é€', "a", '"'],
    escapes: ['"', "\\u0000", '"'],
  };

/** A longer body is read in the same way, and only takes the test longer. */
const triedBytesMax = 2 * 1024 * 1024;

/** Yields each shape as the whole body, and as the value of its first fields or of those of its only element. */
function* bodiesOf({ bytesMax, schema }: Body): Generator<readonly [string, Uint8Array]> {
  for (const [shape, [opens, repeated, closes]] of Object.entries(wholes))
    for (const [place, before, behind] of placesIn(schema)) {
      const [head, tail] = [Buffer.from(before + opens), Buffer.from(closes + behind)];
      const room = Math.min(bytesMax, triedBytesMax) - head.length - tail.length;
      const filled = Buffer.alloc(room - (room % repeated.length), repeated);
      yield [`${shape} ${place}`, Buffer.concat([head, filled, tail])];
    }
}

function* placesIn(schema: z.ZodType = z.any()): Generator<readonly [string, string, string]> {
  yield ["as the body", "", ""];
  const { items, properties } = z.toJSONSchema(schema, { unrepresentable: "any", io: "input" });
  for (const name of fieldsOf(properties)) yield [name, `{${others}"${name}":`, "}"];
  const element = typeof items === "object" && !Array.isArray(items) ? items.properties : {};
  for (const name of fieldsOf(element)) yield [`[0].${name}`, `[{${others}"${name}":`, "}]"];
}

const fieldsMax = 4;
const fieldsOf = (properties: object | undefined): readonly string[] =>
  Object.keys(properties ?? {}).slice(0, fieldsMax);

/** The fields that complete an item of a batch, or an invocation. */
const others =
  '"destination":"https://a.b","headers":{},"workflowRunId":"wfr_1","workflowUrl":"https://a.b","step":{"stepId":1},';

const usedBytes = (): number => {
  const { arrayBuffers, heapUsed } = process.memoryUsage();
  return heapUsed + arrayBuffers;
};

/** Collects garbage, and waits until nothing more is freed: buffers are freed beside the collection. */
async function settledBytes(): Promise<number> {
  globalThis.gc?.();
  let least = usedBytes();
  for (let quiet = 0; quiet < quietLooks; quiet++) {
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
    const now = usedBytes();
    if (now < least - settledWithinBytes) quiet = -1;
    least = Math.min(least, now);
  }
  return usedBytes();
}
const settledWithinBytes = 128 * 1024;
const lookEveryMs = 2;
/** On a busy host the thread that frees buffers may begin some milliseconds after the collection. */
const quietLooks = 8;

async function takenBy(read: () => unknown, bytes: number): Promise<number> {
  const before = bytes > jsonBytesMax ? await settledBytes() : usedBytes();
  let most = 0;
  const look = (): void => void (most = Math.max(most, usedBytes() - before));
  const all: unknown[] = [];
  for (const made of everything(read())) {
    all.push(made);
    look();
  }
  return most;
}

function* everything(made: unknown): Generator<unknown> {
  yield made;
  if (isFault(made) || made instanceof Uint8Array) return;
  if (isReader(made)) yield* everything(made(parseContext));
  if (typeof made !== "object" || made === null) return;
  if (Symbol.iterator in made) yield* made as Iterable<unknown>;
  if ("itemsIn" in made && isReader(made.itemsIn)) yield* everything(made.itemsIn(parseContext));
  if ("destinations" in made && isReader(made.destinations))
    yield* everything(made.destinations(parseContext));
}

const isReader = (made: unknown): made is (given: BatchContext) => unknown =>
  typeof made === "function";

const taken: Taken[] = [];
// A row that several endpoints share is tried once.
const rows = new Map(Object.entries(bodies).map(([endpoint, body]) => [body, endpoint]));
for (const [body, endpoint] of rows) {
  if (body.bytesMax === 0) continue;
  for (const [shape, bytes] of bodiesOf(body)) {
    taken.push({
      ...{ endpoint, shape, bytes: bytes.length },
      takenBytes: await takenBy(() => body.parse(bytes), bytes.length),
    });
  }
}
console.log(JSON.stringify(taken));
