/**
 * `POST /v2/batch`: many publishes in one request (docs/design/batch.md). Items are checked one by one, and the first fault
 * refuses the whole batch.
 */
import { type Fault, type PublishCommand, fault, isFault, planBounds } from "@posthaste/domain";
import * as z from "zod";
import { validated, jsonBytesMax, strictObject } from "../bodies/json.ts";
import { longOf, type LongString, readWithLong, type WithLong } from "../bodies/json-string.ts";
import { isArray, partsOf, type Span, trimmed } from "../bodies/json-parts.ts";
import { type InTurns, pause, type Pause } from "../bodies/pause.ts";
import { type NamedDestination, parseDestination } from "../destination/destination-target.ts";
import { readPublish } from "../headers/parse-publish.ts";
import { type FlatHeaders, type PublishInput } from "../headers/publish-input.ts";
import { bytesOfValue } from "../headers/table.ts";
import { faultOfRun } from "../workflow/run-publish.ts";
import { errorSchema } from "../representations/schemas.ts";
import { hasControls, isName, isToken, nameForm } from "../wire/text.ts";
import { type BodyRow, endpoint } from "./endpoint.ts";
import { publish, publishResultSchema } from "./publish.ts";

const itemsMax = 10_000;
/** The most bytes that JSON uses for one: \u0000. */
const escapedBytesMax = 6;

const text = z.string("must be a string");
const itemSchema = strictObject({
  destination: text.describe("A URL, or the name of a URL group"),
  headers: z
    .record(
      z.string(),
      z.union([text, z.array(text)], "must be a string or an array of them"),
      "must be an object",
    )
    .nullish()
    .describe("The headers of a publish, with names in any case"),
  body: text.nullish().describe("Sent as UTF-8"),
  queue: text.nullish().describe("Queue that the message joins"),
});
type Item = z.output<typeof itemSchema>;

/** The rules for all items of a batch. `completed` returns the headers of an item with the omitted ones. */
export type BatchContext = Omit<
  PublishInput,
  "rawHeaders" | "queryConfig" | "destination" | "queue" | "body"
> & { readonly completed?: (headers: FlatHeaders) => FlatHeaders };

/** `bytes`: the length of the item's text, for a reader that runs other requests between items. */
export type BatchItem = { readonly command: PublishCommand; readonly bytes: number };

type BatchDestination = { readonly destination: NamedDestination; readonly bytes: number };

export type BatchBody = {
  readonly itemsIn: (context: BatchContext) => Iterable<BatchItem | Fault | Pause>;
  /** Yields the destination of each item, as far as items can be read. */
  readonly destinations: () => Iterable<BatchDestination | Pause>;
};

export const batchBody: BodyRow<BatchBody> = {
  schema: z.array(itemSchema).max(itemsMax),
  bytesMax: planBounds.batchBytesMax.max,
  bytesMaxBy: ({ batchBytesMax }) => batchBytesMax,
  parse: (bytes) => ({
    itemsIn: (context) => readBatch(bytes, context),
    destinations: () => destinationsIn(bytes),
  }),
};

export const batch = {
  publishBatch: endpoint({
    method: "post",
    path: "/v2/batch",
    kind: "publish",
    checksLoad: true,
    summary:
      "Publish up to 10,000 messages; headers of the request itself do not configure them, and one invalid item refuses all",
    body: batchBody,
    answers: {
      200: {
        says: "One element for each item, in their order, each as a publish returns it; an error only if the outcome of an item is not known",
        schema: z.array(z.union([publishResultSchema, z.array(publishResultSchema), errorSchema])),
        inPieces: true,
      },
    },
    faults: publish.faults,
  }),
};

/** Stops at the first fault, which `readBatch` reports. */
function* destinationsIn(bytes: Uint8Array): Generator<BatchDestination | Pause, void, undefined> {
  const whole = trimmed(bytes, { from: 0, to: bytes.length });
  if (!isArray(bytes, whole)) return;
  for (const part of partsOf(bytes, whole, planBounds.batchBytesMax.max)) {
    if (part === pause) {
      yield pause;
      continue;
    }
    if (isFault(part)) return;
    const read = yield* readWithLong(bytes.subarray(part.from, part.to), "body", "");
    const item = isFault(read) ? read : validated(read.json, itemSchema, "");
    const destination = isFault(item) ? item : parseDestination(item.destination);
    if (isFault(destination)) return;
    yield { destination, bytes: part.to - part.from };
  }
}

/** Yields the items, and a fault as the last; its text begins with the item and the field, such as `[3].headers: `. */
export function* readBatch(
  bytes: Uint8Array,
  context: BatchContext,
): Generator<BatchItem | Fault | Pause, void, undefined> {
  const whole = trimmed(bytes, { from: 0, to: bytes.length });
  if (!isArray(bytes, whole)) return yield fault("malformed", "body: must be a JSON array");
  const { batchBytesMax, bodyBytesMax } = context.plan;
  const itemBytesMax = Math.min(bodyBytesMax * escapedBytesMax + jsonBytesMax, batchBytesMax);
  let index = 0;
  for (const part of partsOf(bytes, whole, itemBytesMax)) {
    if (part === pause) {
      yield pause;
      continue;
    }
    if (index >= itemsMax) return yield tooManyItems;
    const place = `[${index++}]`;
    if (isFault(part)) return yield within(place, part);
    const read = yield* readItem(bytes, part, place, itemBytesMax);
    if (isFault(read)) return yield within(place, read);
    const item = validated(read.json, itemSchema, place);
    const command = isFault(item)
      ? item
      : yield* commandOf(item, read.long ?? longOf(item.body ?? ""), place, context);
    if (isFault(command)) return yield faultOfRun(command, namesIn(read.json));
    yield { command, bytes: part.to - part.from };
  }
}

/** Reads an item, unless it is too long. */
function* readItem(
  bytes: Uint8Array,
  { from, to }: Span,
  place: string,
  bytesMax: number,
): InTurns<WithLong | Fault> {
  if (to - from > bytesMax)
    return fault("too_large", `${place}: must be at most ${bytesMax} bytes`);
  return yield* readWithLong(bytes.subarray(from, to), "body", place);
}

const tooManyItems = fault(
  "malformed",
  `[${itemsMax}]: a batch may have at most ${itemsMax} items`,
);

/** Returns the headers of a value that may not be an item. */
function namesIn(json: unknown): readonly string[] {
  const item: { readonly headers?: unknown } = Object(json) as object;
  return Object.entries(Object(item.headers) as object).flatMap(([name, value]) => [
    name,
    String(value),
  ]);
}

/** Replaces `body` in a fault of the text by the item's place. */
const within = (place: string, { fault: code, text: said }: Fault): Fault =>
  fault(code, said.startsWith(place) ? said : `${place}${said.replace(/^body/, "")}`);

function* commandOf(
  item: Item,
  text: LongString,
  place: string,
  context: BatchContext,
): InTurns<PublishCommand | Fault> {
  const at = (field: string, { fault: code, text: said }: Fault): Fault =>
    fault(code, `${place}.${field}: ${said}`);
  const named = parseDestination(item.destination);
  if (isFault(named)) return at("destination", named);
  const url = named.kind === "url" ? context.readUrl(named.url, "destination") : undefined;
  if (isFault(url)) return at("destination", url);
  const destination = url === undefined ? named : { kind: "url" as const, url };
  const queue = queueOf(item.queue ?? "");
  if (isFault(queue)) return at("queue", queue);
  const body = yield* bodyOf(text, context.plan.bodyBytesMax);
  if (isFault(body)) return at("body", body);
  const given = flatHeaders(item.headers ?? {});
  if (isFault(given)) return at("headers", given);
  const rawHeaders = context.completed?.(given) ?? given;
  const command = yield* readPublish({ ...context, destination, queue, rawHeaders, body });
  return isFault(command) ? at("headers", command) : command;
}

/** Some clients send an empty name for none. */
function queueOf(name: string): string | undefined | Fault {
  if (name === "") return undefined;
  return isName(name) ? name : fault("malformed", nameForm);
}

function* bodyOf(
  { bytes, isWellFormed, said }: LongString,
  bytesMax: number,
): InTurns<Uint8Array | Fault> {
  // A lone surrogate would silently be replaced by another character.
  if (!isWellFormed) return fault("malformed", "must be well-formed Unicode");
  if (bytes <= bytesMax) return yield* said();
  return fault(
    "too_large",
    `quota maxMessageSize exceeded: the body may have at most ${bytesMax} bytes`,
  );
}

/** Node has checked the names and values of a request's own headers; those of an item are checked here. */
function flatHeaders(headers: NonNullable<Item["headers"]>): string[] | Fault {
  const flat: string[] = [];
  for (const [name, values] of Object.entries(headers)) {
    if (!isToken(name)) {
      const shown = JSON.stringify(name.slice(0, nameShownMax));
      return fault("malformed", `${shown} is not a header name`);
    }
    for (const value of typeof values === "string" ? [values] : values) {
      if (hasControls(value))
        return fault("malformed", `${name}: must not hold control characters`);
      flat.push(name, bytesOfValue(name, value));
    }
  }
  return flat;
}

const nameShownMax = 64;
