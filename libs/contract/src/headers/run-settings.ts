/** The headers that make a publish part of a run. Other `Workflow-` headers of workflow clients are ignored. */
import { type Fault, features, isFault, limits } from "@posthaste/domain";
import { isHeaderValue } from "../wire/text.ts";
import { type Field, type HeaderRule, malformed, type PublishDraft } from "./setting.ts";
import { parseBoolean } from "./values.ts";

/** Two of these set one member of the draft, or one sets two. A retry of a dead letter ignores them. */
type RunSetting = HeaderRule & {
  readonly take: (field: Field, draft: PublishDraft) => Fault | undefined;
};

export const runSettings: readonly RunSetting[] = [
  {
    suffix: "Workflow-RunId",
    rule: "Name of a run, in characters that need no escapes in a URL: the message starts the run, or belongs to it.",
    fallback: "none",
    example: "order-17",
    take: (field, { run }) => checkRunId(field) ?? void (run.id = field),
  },
  {
    suffix: "Workflow-Init",
    rule: "true or false: true starts a run; otherwise the message belongs to an existing run.",
    fallback: "false",
    example: "true",
    take: (field, { run }) => into(parseBoolean(field), (starts) => (run.starts = starts)),
  },
  {
    suffix: "Workflow-CreatedAt",
    rule: "When the run was started, in Unix milliseconds: selects one of several runs with the same name.",
    fallback: "the latest",
    example: "1767225600000",
    take: (field, { run }) =>
      /^\d{1,15}$/.test(field.value)
        ? void (run.createdAt = Number(field.value))
        : malformed(field, "must be a Unix timestamp in milliseconds"),
  },
  {
    suffix: "Workflow-CallType",
    rule: "The kind of message in its run: step, or toCallback for a call to a third party.",
    fallback: "step",
    example: "step",
    take: (field, { run }) => void (run.callType = field),
  },
  {
    suffix: "Workflow-Sdk-Version",
    rule: "The version of the protocol that the workflow client speaks: 1, if a run is named.",
    fallback: "none",
    example: "1",
    take: (field, { run }) => void (run.version = field),
  },
  {
    suffix: "Workflow-Invoke",
    rule: "true: a step of another run starts this run. The body names the step, whose result is the end of this run.",
    fallback: "false",
    example: "true",
    take: (field, { run }) => into(parseBoolean(field), (is) => (run.invokes = is)),
  },
  {
    suffix: "Workflow-Unknown-Sdk",
    rule: "For a start, with any value: the endpoint is called first, and starts the run itself.",
    fallback: "none",
    example: "true",
    take: (field, { run }) => void (run.phase ??= "probes"),
  },
  {
    suffix: "Workflow-Trigger-By-Sdk",
    rule: "For the start that such an endpoint makes: true.",
    fallback: "false",
    example: "true",
    take: (field, { run }) =>
      into(parseBoolean(field), (is) => (run.phase = is ? "adopts" : run.phase)),
  },
  {
    suffix: "Feature-Set",
    rule: "Comma-separated list of the workflow client's features; LazyFetch, WF_DetectTrigger and WF_TriggerOnConfig are used.",
    fallback: "none",
    example: "LazyFetch",
    take: (field, { run }) => {
      const given = field.value.split(",").map((name) => name.trim());
      if (given.includes("LazyFetch")) run.announcesFetch = true;
      run.features = features.filter(
        (name) => given.includes(name) || run.features?.includes(name),
      );
      return undefined;
    },
  },
  {
    suffix: "Telemetry-Sdk",
    rule: "For a step: a client in JavaScript that announces LazyFetch fetches a large history. Otherwise ignored.",
    fallback: "none",
    example: "@upstash/workflow@v1.3.3",
    take: (field, { run }) => {
      if (field.value.includes("@upstash/workflow")) run.isJavaScript = true;
      return undefined;
    },
  },
];

/** Passes a valid value to `set`, and returns a fault. */
function into<T>(value: T | Fault, set: (value: T) => void): Fault | undefined {
  if (isFault(value)) return value;
  set(value);
  return undefined;
}

/** Clients give these in more than one line. */
export const repeatable: ReadonlySet<string> = new Set(["feature-set", "telemetry-sdk"]);

/** Clients put the id into paths as it is, so characters with a meaning in URLs are refused: the path would name no run. */
const checkRunId = (field: Field): Fault | undefined =>
  field.value.length > 0 &&
  field.value.length <= limits.runIdLengthMax &&
  isHeaderValue(field.value) &&
  !/[/\\?#%\s]|^\.\.?$/.test(field.value)
    ? undefined
    : malformed(
        field,
        `must have 1 to ${limits.runIdLengthMax} visible ASCII characters, none of them / \\ ? # or %`,
      );
