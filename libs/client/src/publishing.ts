/** The operations that name a destination: publish, enqueue, trigger and schedule, and batches of messages. */
import { type PublishResult, type Settings, type StartedRun, targets } from "./api.ts";
import { type AnswerOf, type CallOptions, pathPart, version } from "./operations.ts";
import { type ForwardedHeaders, forwardedHeaders, settingHeaders } from "./settings.ts";
import { type Call, type Transport } from "./transport.ts";
import { InvalidCall } from "./invalid-call.ts";

/** A URL, `api/llm`, or the name of a URL group. */
type Destination = { readonly to: string };

type Content = {
  /** Sent unchanged. */
  readonly body?: string | Uint8Array | undefined;
  readonly contentType?: string | undefined;
};
type Json = { readonly json: unknown };

export type Publication = Destination & Settings & ForwardedHeaders & Content;
export type JsonPublication = Destination & Settings & ForwardedHeaders & Json;
export type Enqueued = { readonly queue: string };
export type Trigger = Publication & { readonly workflowRunId?: string | undefined };
export type NewSchedule = Publication & { readonly cron: string };
export type BatchItem = (Publication & { readonly body?: string }) | JsonPublication;

type UrlText = `http://${string}` | `https://${string}`;
/** One result for a URL; one for each endpoint of a URL group. */
export type Published<To> = To extends UrlText ? PublishResult : PublishResult | PublishResult[];

type KeyOf<Shape> = Shape extends unknown ? keyof Shape : never;
/** Refuses options that `Shape` does not have, since a misspelt option would have no effect. */
type NoOther<Given, Shape> = { readonly [Key in Exclude<keyof Given, KeyOf<Shape>>]?: never };

type AnyEnqueued = (Publication | JsonPublication) & Enqueued;
type AnyItem = BatchItem & Partial<Enqueued>;

export type Publishing = {
  publish<const P extends Publication>(
    publication: P & NoOther<P, Publication>,
    options?: CallOptions,
  ): Promise<Published<P["to"]>>;
  publishJson<const P extends JsonPublication>(
    publication: P & NoOther<P, JsonPublication>,
    options?: CallOptions,
  ): Promise<Published<P["to"]>>;
  /** Publishes through a queue, which is made if it does not exist. */
  enqueue<const P extends AnyEnqueued>(
    publication: P & NoOther<P, AnyEnqueued>,
    options?: CallOptions,
  ): Promise<Published<P["to"]>>;
  /** Starts a run of the workflow at a URL. */
  trigger<const T extends Trigger>(
    trigger: T & NoOther<T, Trigger>,
    options?: CallOptions,
  ): Promise<StartedRun>;
  /** Makes a schedule, or replaces the one that `scheduleId` names. */
  schedule<const S extends NewSchedule>(
    schedule: S & NoOther<S, NewSchedule>,
    options?: CallOptions,
  ): Promise<AnswerOf<"createSchedule">>;
  /** Publishes up to 10,000 messages in one request. One faulty message refuses all. */
  batch<const Items extends readonly AnyItem[]>(
    items: Items & { readonly [I in keyof Items]: NoOther<Items[I], AnyItem> },
    options?: CallOptions,
  ): Promise<AnswerOf<"publishBatch">>;
};

type Any = Partial<Destination & Content & Json & Enqueued> & Settings & ForwardedHeaders;

export function createPublishing(transport: Transport): Publishing {
  const send = (prefix: string, given: Any, options: CallOptions = {}): Promise<unknown> => {
    const { to, headers, body, isRepeatable } = requestOf(given);
    const path = `${version}${prefix}/${destinationPart(to)}`;
    return transport.send({ method: "post", path, headers, body, isRepeatable, ...options });
  };
  const queueIn = ({ queue }: Any) =>
    targets.enqueue.replace("{queueName}", pathPart("queue", queue));

  // Answers are trusted to have the types of docs/openapi.json.
  const methods = {
    publish: async (given: Any, options?: CallOptions) => send(targets.publish, given, options),
    publishJson: async (given: Any, options?: CallOptions) => send(targets.publish, given, options),
    enqueue: async (given: Any, options?: CallOptions) => send(queueIn(given), given, options),
    trigger: async (given: Any, options?: CallOptions) => send(targets.trigger, given, options),
    schedule: async (given: Any, options?: CallOptions) =>
      send(targets.createSchedule, given, options),
    batch: async (items: readonly Any[], options: CallOptions = {}) =>
      transport.send({
        method: "post",
        path: `${version}batch`,
        headers: { "content-type": "application/json" },
        body: JSON.stringify(items.map(itemOf)),
        isRepeatable: items.every(isDeduplicated),
        ...options,
      }),
  };
  return methods as Publishing;
}

type Request = Pick<Call, "body" | "isRepeatable"> & {
  readonly to: string | undefined;
  readonly headers: Record<string, string>;
};

function requestOf(given: Any): Request {
  const { to, body, json, contentType, queue: _, ...rest } = given;
  const { headers, callbackHeaders, failureCallbackHeaders, ...settings } = rest;
  const isJson = "json" in given;
  if (isJson && body !== undefined)
    throw new InvalidCall("body: cannot be given together with json");
  const type = contentType ?? (isJson ? "application/json" : undefined);
  return {
    to,
    headers: {
      ...forwardedHeaders({ headers, callbackHeaders, failureCallbackHeaders }),
      ...settingHeaders(settings),
      ...(type !== undefined && { "Content-Type": type }),
    },
    body: isJson ? jsonText(json) : body,
    isRepeatable: isDeduplicated(given),
  };
}

/** Reports whether the server merges a repeat with its original, within the deduplication window. */
const isDeduplicated = ({ deduplicationId, contentBasedDeduplication }: Any): boolean =>
  deduplicationId !== undefined || String(contentBasedDeduplication) === "true";

function jsonText(json: unknown): string {
  const text: string | undefined = JSON.stringify(json);
  if (text === undefined) throw new InvalidCall("json: cannot be written as JSON");
  return text;
}

function itemOf(given: Any, at: number): object {
  const { to, headers, body } = requestOf(given);
  if (body instanceof Uint8Array) throw new InvalidCall(`[${at}].body: must be a text`);
  return { destination: to, headers, body, queue: given.queue };
}

/** Returns the destination as a path. A URL is encoded, so that no proxy reads its dots, slashes or query as the request's own. */
function destinationPart(to: string | undefined): string {
  if (typeof to !== "string" || to === "")
    throw new InvalidCall("to: must be a URL or the name of a URL group");
  return /^[a-z][a-z0-9+.-]*:/i.test(to)
    ? encodeURIComponent(to)
    : to
        .split("/")
        .map((part) => pathPart("to", part))
        .join("/");
}
