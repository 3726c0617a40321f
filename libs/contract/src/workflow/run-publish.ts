/**
 * A publish as part of a run: its start, or a step's plan or result. Clients take a 400 for "the run has ended" and
 * drop the step, so a fault of a step has another status (docs/design/runs#statuses).
 */
import * as z from "zod";
import {
  fault,
  type Fault,
  type HeaderPair,
  type Headers,
  isFault,
  limits,
  protocolVersion,
  type PublishCommand,
  runId,
  type RunPublish,
  type StepKey,
} from "@posthaste/domain";
import { readMembers } from "../bodies/json-members.ts";
import { type Span } from "../bodies/json-parts.ts";
import { longOf, readWithLong } from "../bodies/json-string.ts";
import { readJson } from "../bodies/json.ts";
import { type InTurns } from "../bodies/pause.ts";
import { representationNames } from "../headers/forwarded.ts";
import { type FlatHeaders } from "../headers/publish-input.ts";
import { type Field, malformed, type PublishDraft } from "../headers/setting.ts";
import { bytesOfValue } from "../headers/table.ts";
import { dialectOf, dialects, isNamed, prefixLength, givenValue } from "../wire/dialects.ts";
import { isLong, stepIsTooLong } from "./wait-body.ts";

/** Returns the command as part of the run that its headers name. */
export function* withRun(
  given: PublishCommand,
  id: Field,
  draft: PublishDraft,
  readStep: ReadStep,
): InTurns<PublishCommand | Fault> {
  const { starts, callType, createdAt, invokes } = draft.run;
  const strange = strangeVersion(given, draft);
  if (strange) return strange;
  const command = withOwnFailure(given);
  if (command.destination.kind !== "url")
    return malformed(id, "a run has one URL, and not a group");
  if (command.queue !== undefined) return malformed(id, "a message of a run has no queue");
  const headers = withOwnNames(command);
  if (starts === true) {
    // Clients send a header of their user as a forwarded one.
    const phase = draft.run.phase ?? (command.headers.some(isProbe) ? "probes" : undefined);
    const run = {
      kind: "start",
      id: runId(id.value),
      features: draft.run.features ?? [],
      headers: headers.filter(isUsersHeader),
      ...(phase && { phase }),
    } as const;
    const start = { ...command, headers, run };
    return invokes === true ? yield* invocation(start, readStep) : start;
  }
  const of = { id: runId(id.value), ...(createdAt !== undefined && { createdAt }) };
  switch (callType?.value ?? "step") {
    case "step": {
      const members = yield* stepMembers(command.body);
      if (isFault(members)) return members;
      const key = stepKeyOf(command.body, members);
      if (isFault(key)) return key;
      const hook = hookOf(command.body, members);
      const stepName = nameAt(command.body, members.get("stepName"));
      const named = stepName === undefined ? {} : { stepName };
      // Clients in other languages announce fetching, too, and cannot do it.
      const { announcesFetch, isJavaScript } = draft.run;
      const fetches = announcesFetch === true &&
        isJavaScript === true && { fetches: true as const };
      return {
        ...command,
        headers,
        run: { kind: "entry", ...of, key, ...named, ...fetches, ...hook },
      };
    }
    case "toCallback": {
      const step = stepOfCall(command);
      return isFault(step) ? step : { ...command, run: { kind: "call", ...of, step } };
    }
    default:
      return fault("run_refused", `${callType?.name}: must be step or toCallback`);
  }
}

/**
 * Refuses another version of the protocol, whose steps may mean anything (ADR 100). Clients name the version to the
 * server, to their endpoint, or to both.
 */
function strangeVersion(
  { headers }: PublishCommand,
  { run: { version } }: PublishDraft,
): Fault | undefined {
  const given: Headers = version ? [[version.name, version.value], ...headers] : headers;
  const [name] =
    given.find(
      ([each, value]) => value.trim() !== protocolVersion && isNamed(each, "workflow-sdk-version"),
    ) ?? [];
  if (name === undefined) return undefined;
  return malformed(
    { name },
    `this service speaks version ${protocolVersion} of the protocol of workflows`,
  );
}

type Start = PublishCommand & { readonly run: Extract<RunPublish, { kind: "start" }> };

function* invocation(start: Start, readStep: ReadStep): InTurns<PublishCommand | Fault> {
  const depth = start.headers.find(([name]) => /-workflow-invoke-count$/i.test(name));
  if (Number(depth?.[1] ?? 0) > limits.invokeDepthMax)
    return fault("run_refused", `invocations may be ${limits.invokeDepthMax} deep`);
  const told = yield* readInvoke(start.body);
  if (isFault(told)) return told;
  const { body, headers, step, workflowRunCreatedAt, workflowRunId, workflowUrl } = told;
  const { prefix } = dialects[start.dialect];
  const named = new Map<string, string>(
    Object.entries(headers).map(([name, [value = ""]]) => [
      name.toLowerCase(),
      bytesOfValue(name, value),
    ]),
  );
  named.set(`${prefix}Workflow-RunId`.toLowerCase(), workflowRunId);
  if (workflowRunCreatedAt != null)
    named.set(`${prefix}Workflow-CreatedAt`.toLowerCase(), String(workflowRunCreatedAt));
  const stepBody = new TextEncoder().encode(JSON.stringify(step));
  const answer = readStep([...named].flat(), workflowUrl, stepBody);
  if (isFault(answer)) return answer;
  const run: RunPublish = { kind: "invoke", child: start.run, answer, step };
  return { ...start, body, run };
}

/** Reads a step that is sent to that URL. */
export type ReadStep = (
  rawHeaders: FlatHeaders,
  url: string,
  body: Uint8Array,
) => PublishCommand | Fault;

/** Returns the step of a call, which the client names in the headers with which the answer is delivered. */
function stepOfCall({ policy: { callback } }: PublishCommand): number | Fault {
  const named = callback?.headers.find(([name]) => /-workflow-stepid$/i.test(name));
  const step = Number(named?.[1]);
  return isStep(step)
    ? step
    : fault("run_refused", "Callback-Forward-*: a call must name its step, a StepId");
}

/**
 * Turns a fault of a publish that belongs to an existing run into `run_refused`: never a 400, and never a fault after
 * which a repeat might succeed.
 */
export const faultOfRun = (refused: Fault, rawHeaders: FlatHeaders): Fault =>
  (refused.fault === "malformed" || refused.fault === "too_large") && belongsToRun(rawHeaders)
    ? { ...refused, fault: "run_refused" }
    : refused;

/** Reports by its headers whether a publish is a part of an existing run, and not the start of one. */
export function belongsToRun(rawHeaders: FlatHeaders): boolean {
  let hasRun = false;
  let starts = false;
  let invokes = false;
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const lower = rawHeaders[i]?.toLowerCase() ?? "";
    if (!lower.startsWith("workflow-", prefixLength) || dialectOf(lower) === undefined) continue;
    const suffix = lower.slice(prefixLength);
    if (suffix === "workflow-runid") hasRun = true;
    const isTrue = rawHeaders[i + 1]?.trim().toLowerCase() === "true";
    if (suffix === "workflow-init") starts = isTrue;
    if (suffix === "workflow-invoke") invokes = isTrue;
  }
  return hasRun && (invokes || !starts);
}

const stepNames: ReadonlySet<string> = new Set([
  "stepId",
  "targetStep",
  "stepType",
  "stepName",
  "out",
]);
const hasNone = "must be JSON with a stepId, or a targetStep that is planned";

/**
 * Finds the members of a step. The rest of the body is not parsed: the content of a step is as large, and has as many
 * values, as its endpoint likes.
 */
function* stepMembers(body: Uint8Array): InTurns<ReadonlyMap<string, Span> | Fault> {
  const members = yield* readMembers(body, stepNames, limits.runStepDepthMax);
  return isFault(members) ? refusedStep(members.text.replace(/^body: /, "")) : members;
}

function stepKeyOf(body: Uint8Array, members: ReadonlyMap<string, Span>): StepKey | Fault {
  const numberOf = (name: string) => Number(jsonAt(body, members.get(name), numberBytesMax));
  const step = numberOf("stepId");
  if (isStep(step)) return { role: "result", step };
  const target = numberOf("targetStep");
  if (isStep(target)) return { role: "plan", step: target };
  return refusedStep(`${hasNone}, up to ${limits.runStepsMax}`);
}

const numberBytesMax = 32;
const nameBytesMax = 256;
const hookBytesMax = 16 * 1024;

/** Returns the event of a webhook that the step has made. The step names it in its result, which is JSON inside a string. */
function hookOf(
  body: Uint8Array,
  members: ReadonlyMap<string, Span>,
): { readonly hook: string } | undefined {
  const [type, out] = [members.get("stepType"), members.get("out")];
  if (!out || (nameAt(body, type) ?? textAt(body, type)) !== "CreateWebhook") return undefined;
  const made = parsed(textAt(body, out));
  const event = typeof made === "object" && made !== null && "eventId" in made && made.eventId;
  const isName = typeof event === "string" && event.length <= limits.eventIdLengthMax;
  return isName ? { hook: event } : undefined;
}

/** Returns a short string of the body. */
function textAt(body: Uint8Array, place: Span | undefined): string | undefined {
  const value = parsed(jsonAt(body, place, hookBytesMax));
  return typeof value === "string" ? value : undefined;
}

function parsed(json: string | undefined): unknown {
  const read = json === undefined ? undefined : readJson(Buffer.from(json), "", "last");
  return read && !isFault(read) ? read.json : undefined;
}

/** Returns a name, or undefined for one that is long, has escapes or is not text. */
const nameAt = (body: Uint8Array, place: Span | undefined): string | undefined =>
  /^"([^"\\]+)"$/.exec(jsonAt(body, place, nameBytesMax) ?? "")?.[1];

/** Returns the JSON of a member; undefined if there is none, or it is longer. */
function jsonAt(
  { buffer, byteOffset }: Uint8Array,
  place: Span | undefined,
  bytesMax: number,
): string | undefined {
  if (!place || place.to - place.from > bytesMax) return undefined;
  return Buffer.from(buffer, byteOffset + place.from, place.to - place.from).toString();
}

const refusedStep = (why: string): Fault => fault("run_refused", `body: a step of a run ${why}`);

const isStep = (value: number): boolean =>
  Number.isInteger(value) && value > 0 && value <= limits.runStepsMax;

/**
 * Returns the headers forwarded to the run's endpoint: always a Content-Type, and of prefixed names only those that
 * clients send for their own endpoints. Every other prefixed name is set by this service, or belonged to the request
 * that made the endpoint start the run.
 */
const withOwnNames = ({ headers }: PublishCommand): Headers => {
  const kept = headers.filter(isOwnName);
  const hasType = kept.some(([name]) => name.toLowerCase() === "content-type");
  return hasType ? kept : [["Content-Type", "application/json"], ...kept];
};

/** Leaves out the header that clients send to a failure function of the run: this service sets it, and a name has one value. */
function withOwnFailure(command: PublishCommand): PublishCommand {
  const { callback, failureCallback } = command.policy;
  const ofAnswer = callback?.failureCallback;
  return {
    ...command,
    policy: {
      ...command.policy,
      ...(ofAnswer && { callback: { ...callback, failureCallback: withOwn(ofAnswer) } }),
      ...(failureCallback && { failureCallback: withOwn(failureCallback) }),
    },
  };
}

const withOwn = <Plan extends { readonly headers: Headers }>(plan: Plan): Plan => ({
  ...plan,
  headers: plan.headers.filter(isOwnName),
});

const isProbe = ([name]: HeaderPair): boolean => isNamed(name, "workflow-unknown-sdk");

const passing: ReadonlySet<string> = new Set(["workflow-invoke-count"]);

function isOwnName([name]: HeaderPair): boolean {
  const lower = name.toLowerCase();
  if (lower === "accept-encoding") return false;
  return dialectOf(lower) === undefined || passing.has(lower.slice(prefixLength));
}

/** Reports whether a header is sent with every delivery of the run. Type, encoding and language belong to one body. */
const isUsersHeader = ([name]: HeaderPair): boolean =>
  dialectOf(name.toLowerCase()) === undefined && !representationNames.has(name.toLowerCase());

/** Returns the id of the run that is meant, in a request that is not a publish. */
export const givenRunId = (rawHeaders: FlatHeaders): string | undefined =>
  givenValue(rawHeaders, "workflow-runid");

/** Returns the time that selects one of several uses of a name. Text that is not a time is ignored: an endpoint must not be refused. */
export function givenCreatedAt(rawHeaders: FlatHeaders): number | undefined {
  const text = givenValue(rawHeaders, "workflow-createdat");
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

const invokeSchema = z.object({
  body: z.string().nullish(),
  headers: z.record(z.string(), z.array(z.string())),
  workflowRunId: z.string(),
  workflowRunCreatedAt: z.number().nullish(),
  workflowUrl: z.string(),
  step: z.looseObject({ stepId: z.int() }),
});

type InvokeBody = Omit<z.output<typeof invokeSchema>, "body"> & {
  readonly body: Uint8Array;
};

/**
 * Reads the body of an invocation, from an endpoint: the request to the child, and the step that gets its end. Never returns a fault with 400, which an endpoint takes for the end of its run.
 */
function* readInvoke(bytes: Uint8Array): InTurns<InvokeBody | Fault> {
  const read = yield* readWithLong(bytes, "body", "body", "last");
  if (isFault(read)) return { ...read, fault: "run_refused" };
  const { success, data, error } = invokeSchema.safeParse(read.json);
  if (success)
    return isLong(data.step)
      ? stepIsTooLong
      : { ...data, body: yield* (read.long ?? longOf(data.body ?? "")).said() };
  const [issue] = error.issues;
  return fault("run_refused", `body.${issue?.path.join(".") ?? ""}: ${issue?.message ?? ""}`);
}
