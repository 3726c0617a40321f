/** The fields of a step that readers of a run see, made from the text that the endpoint has published. */
import {
  type Headers,
  isFault,
  limits,
  parseDuration,
  type Redaction,
  type Run,
  type RunPart,
} from "@posthaste/domain";
import * as z from "zod";
import { readMembers } from "../bodies/json-members.ts";
import { type Span } from "../bodies/json-parts.ts";
import { isString, readBytes, readSize } from "../bodies/json-string.ts";
import { readJson } from "../bodies/json.ts";
import { type InTurns } from "../bodies/pause.ts";
import { type ReadableBody, readableBody, type ReadView } from "../representations/body.ts";
import { readableHeaders } from "../representations/hidden.ts";
import { headersShape, type JsonOf, millisecondsShape } from "../representations/schemas.ts";

export const runStates = ["RUN_STARTED", "RUN_SUCCESS", "RUN_FAILED", "RUN_CANCELED"] as const;

export const stepStates = [
  "STEP_PROGRESS",
  "STEP_RETRY",
  "STEP_SUCCESS",
  "STEP_FAILED",
  "STEP_CANCELED",
] as const;

export const attemptErrorSchema = z
  .object({
    error: z.string(),
    body: z.string().optional(),
    headers: headersShape,
    status: z.int().describe("0 when there was no response"),
    time: millisecondsShape,
  })
  .meta({ id: "AttemptError" });

export const runStepSchema = z
  .object({
    stepId: z.int().optional().describe("Absent for the first step, which is the start"),
    targetStep: z
      .int()
      .optional()
      .describe("Present for a member of a parallel group without a result"),
    stepName: z.string().optional(),
    stepType: z.string().optional(),
    callType: z.string().optional(),
    concurrent: z.int().optional(),
    messageId: z.string().optional(),
    createdAt: millisecondsShape.optional(),
    state: z.enum(stepStates).optional(),
    out: z.string().optional().describe("The result of the step; for the first step, the payload"),
    headers: headersShape.optional(),
    retries: z.int().optional(),
    retryDelay: z.string().optional(),
    nextDeliveryTime: millisecondsShape.optional(),
    errors: z.array(attemptErrorSchema).optional().describe("The latest failed attempts"),
    sleepFor: z.number().optional().describe("Seconds"),
    sleepUntil: z.number().optional().describe("Unix timestamp, as the client sent it"),
    callUrl: z.string().optional(),
    callMethod: z.string().optional(),
    callBody: z.string().optional(),
    callHeaders: headersShape.optional(),
    callResponseStatus: z.int().optional(),
    callResponseBody: z.string().optional(),
    callResponseHeaders: headersShape.optional(),
    waitEventId: z.string().optional(),
    waitTimeout: z.boolean().optional(),
    waitTimeoutDeadline: millisecondsShape.optional(),
    waitTimeoutDuration: z.string().optional().describe("Seconds, followed by an s"),
    invokedWorkflowRunId: z.string().optional(),
    invokedWorkflowUrl: z.string().optional(),
    invokedWorkflowCreatedAt: millisecondsShape.optional(),
    invokedWorkflowRunBody: z.string().optional().describe("The payload of the invoked run"),
    invokedWorkflowRunHeaders: headersShape.optional(),
  })
  .meta({ id: "RunStep" });

export type RunStepJson = JsonOf<typeof runStepSchema>;

/** A step as its endpoint has published it, with the places of the fields that are read. */
type Published = { readonly text: Uint8Array; readonly at: ReadonlyMap<string, Span> };

const textNames = ["stepName", "stepType", "callType", "callUrl", "callMethod", "waitEventId"];
const invokedNames = ["invokedWorkflowRunId", "invokedWorkflowUrl"];
const otherNames = ["stepId", "concurrent", "out", "sleepFor", "sleepUntil", "waitTimeout"];
const callNames = ["callBody", "callHeaders"];
const stepNames = new Set([...textNames, ...invokedNames, ...otherNames, ...callNames]);
const answerNames = new Set(["status", "header", "body"]);

/** Reads a step. Clients write any JSON, so only values in the form of a step's field are read. */
export const publishedStep = (text: Uint8Array): InTurns<Published> => fieldsOf(text, stepNames);

/** Reads a step that is inside a part. */
export function* stepWithin(text: Uint8Array): InTurns<Published> {
  const place = (yield* fieldsOf(text, new Set(["step"]))).at.get("step");
  return yield* publishedStep(place ? text.subarray(place.from, place.to) : new Uint8Array(0));
}

function* fieldsOf(text: Uint8Array, names: ReadonlySet<string>): InTurns<Published> {
  const at = yield* readMembers(text, names, limits.runStepDepthMax);
  return { text, at: isFault(at) ? new Map() : at };
}

function valueOf({ at, text }: Published, name: string): unknown {
  const place = at.get(name);
  const read = place && readJson(text.subarray(place.from, place.to), name, "last");
  return isFault(read) ? undefined : read?.json;
}

/** Returns a field that may be long: the content of a string, otherwise the text of the value. A little more than `bytesMax`. */
function* bytesOf(
  { at, text }: Published,
  name: string,
  bytesMax?: number,
): InTurns<Uint8Array | undefined> {
  const place = at.get(name);
  if (!place) return undefined;
  if (isString(text, place))
    return yield* readBytes(text, place, yield* readSize(text, place), bytesMax);
  const value = text.subarray(place.from, place.to);
  return value.length === "null".length && valueOf({ at, text }, name) === null ? undefined : value;
}

export function* stepFields(run: Run, step: Published, view: ReadView): InTurns<RunStepJson> {
  const [sleepFor, sleepUntil, stepType, waitTimeout] = [
    "sleepFor",
    "sleepUntil",
    "stepType",
    "waitTimeout",
  ].map((name) => valueOf(step, name));
  const out = yield* shown(run, step, "out", view);
  const seconds = typeof sleepFor === "string" ? secondsOf(sleepFor) : sleepFor;
  return {
    ...textsOf(step, [...textNames, ...invokedNames]),
    ...integerOf(step, "stepId"),
    concurrent: integerOf(step, "concurrent").concurrent ?? 1,
    ...(out !== undefined && { out }),
    ...(typeof seconds === "number" && { sleepFor: seconds }),
    ...(typeof sleepUntil === "number" && { sleepUntil }),
    ...(typeof waitTimeout === "boolean" && { waitTimeout }),
    ...(stepType === "Call" && (yield* callFields(run, step, view))),
  };
}

function* callFields(run: Run, step: Published, view: ReadView): InTurns<RunStepJson> {
  const { redaction } = run.plan.policy;
  const body = yield* shown(run, step, "callBody", view);
  const out = yield* bytesOf(step, "out");
  const answer = yield* fieldsOf(out ?? new Uint8Array(0), answerNames);
  const status = valueOf(answer, "status");
  const answered = yield* shown(run, answer, "body", view);
  const sent = valueOf(step, "callHeaders");
  return {
    ...(body !== undefined && { callBody: body }),
    ...(isObject(sent) && {
      callHeaders: readableHeaders(headersOf(sent), redaction, view.sha256),
    }),
    ...(typeof status === "number" &&
      Number.isInteger(status) && {
        callResponseStatus: status,
        callResponseHeaders: readableHeaders(
          headersOf(valueOf(answer, "header")),
          redaction,
          view.sha256,
        ),
      }),
    ...(answered !== undefined && { callResponseBody: answered }),
  };
}

/**
 * Returns the run that a step has started, from the part of the invocation. Values that either run redacts are hidden.
 */
export function* invokedFields(
  { plan }: Run,
  { body }: RunPart,
  view: ReadView,
): InTurns<RunStepJson> {
  const place = (yield* fieldsOf(body, new Set(["child"]))).at.get("child");
  if (!place) return {};
  const child = yield* fieldsOf(body.subarray(place.from, place.to), childNames);
  const [destination, policy, run] = ["destination", "policy", "run"].map((name) =>
    objectOf(valueOf(child, name)),
  );
  const { id } = run ?? {};
  const { url } = destination ?? {};
  const { sha256, bodyBytesMax } = view;
  const redaction = hiddenByEither(plan.policy.redaction, objectOf(policy?.["redaction"]));
  const payload = bodyBytesMax === 0 ? undefined : yield* bytesOf(child, "body");
  const shownPayload = textIn(
    readableBody(payload && Buffer.from(Buffer.from(payload).toString("latin1"), "base64"), {
      ...{ redaction, sha256 },
      ...(bodyBytesMax !== undefined && { bytesMax: bodyBytesMax }),
    }),
  );
  return {
    ...(typeof id === "string" && { invokedWorkflowRunId: id }),
    ...(typeof url === "string" && { invokedWorkflowUrl: url }),
    ...(shownPayload !== undefined && { invokedWorkflowRunBody: shownPayload }),
    invokedWorkflowRunHeaders: readableHeaders(pairsOf(run?.["headers"]), redaction, sha256),
  };
}

/** Returns when the invoked run was created, from the part that stores it. */
export function* invokedSince({ body }: RunPart): InTurns<RunStepJson> {
  const createdAt = valueOf(yield* fieldsOf(body, new Set(["createdAt"])), "createdAt");
  return typeof createdAt === "number" ? { invokedWorkflowCreatedAt: createdAt } : {};
}

const childNames = new Set(["destination", "policy", "run", "body"]);

function hiddenByEither(
  one: Redaction | undefined,
  { body, headers }: Readonly<Record<string, unknown>>,
): Redaction {
  const names = Array.isArray(headers) ? headers.map(String) : [];
  return {
    body: one?.body === true || body === true,
    headers:
      one?.headers === "all" || headers === "all" ? "all" : [...(one?.headers ?? []), ...names],
  };
}

/** Clients send numbers, or durations such as `1d`. */
function secondsOf(duration: string): number | undefined {
  const ms = parseDuration(duration);
  return ms === undefined ? undefined : ms / 1_000;
}

/** Returns a field cut or hidden as a body is. */
function* shown(
  { plan }: Run,
  step: Published,
  name: string,
  view: ReadView,
): InTurns<string | undefined> {
  const { redaction } = plan.policy;
  const { sha256, bodyBytesMax } = view;
  const max = bodyBytesMax === undefined ? {} : { bytesMax: bodyBytesMax };
  // A hash needs all of the field.
  const bytes = yield* bytesOf(step, name, redaction?.body ? undefined : bodyBytesMax);
  const readable = readableBody(bytes, { redaction, sha256, ...max });
  return readable.kind === "text" ? readable.text : undefined;
}

function textsOf(step: Published, names: readonly string[]): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const name of names) {
    const value = valueOf(step, name);
    if (typeof value === "string") found[name] = value;
  }
  return found;
}

function integerOf<Name extends string>(
  step: Published,
  name: Name,
): { readonly [N in Name]?: number } {
  const value = valueOf(step, name);
  const found: { [N in Name]?: number } = {};
  if (typeof value === "number" && Number.isInteger(value)) found[name] = value;
  return found;
}

export function headersOf(json: unknown): Headers {
  return Object.entries(objectOf(json)).flatMap(([name, values]): Headers =>
    (Array.isArray(values) ? values : [values]).map((value): [string, string] => [
      name,
      String(value),
    ]),
  );
}

/** Reads fields of JSON that this service has written into a part; only the named fields are parsed. */
export function* writtenJson(
  { body }: RunPart,
  names: readonly string[],
): InTurns<Readonly<Record<string, unknown>>> {
  const { at, text } = yield* fieldsOf(body, new Set(names));
  return Object.fromEntries(
    [...at].map(([name, { from, to }]) => [
      name,
      JSON.parse(Buffer.from(text.subarray(from, to)).toString()),
    ]),
  );
}

const isObject = (json: unknown): json is Readonly<Record<string, unknown>> =>
  typeof json === "object" && json !== null && !Array.isArray(json);

const objectOf = (json: unknown): Readonly<Record<string, unknown>> => (isObject(json) ? json : {});

export const pairsOf = (value: unknown): Headers =>
  Array.isArray(value)
    ? value.flatMap((pair: unknown): [string, string][] =>
        Array.isArray(pair) && pair.length === 2 ? [[String(pair[0]), String(pair[1])]] : [],
      )
    : [];

export function bodyOfRun(
  { plan }: Run,
  body: Uint8Array | undefined,
  { sha256, bodyBytesMax }: ReadView,
): ReadableBody {
  const { redaction } = plan.policy;
  const max = bodyBytesMax === undefined ? {} : { bytesMax: bodyBytesMax };
  return readableBody(body, { redaction, sha256, ...max });
}

/** Returns a body as text; base64 if it is not text. */
export function textIn(body: ReadableBody | undefined): string | undefined {
  if (!body || body.kind === "none") return undefined;
  return body.kind === "text" ? body.text : body.base64;
}
