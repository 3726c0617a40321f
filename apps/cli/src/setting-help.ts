/** Made by `npm run generate` from the tables of headers and parameters: not to be edited. */

export const settingHelp = {
  label: {
    about: "Comma-separated labels by which logs and lists of dead letters find the message.",
    fallback: "none",
    example: "orders,north",
  },
  timeout: {
    about:
      "Duration such as 30s, 5m or 1h30m: the longest time from connecting to the last byte of the answer; bounded by the plan.",
    fallback: "the plan's",
    example: "30s",
  },
  retries: {
    about: "Integer: retries after a failed delivery, so that deliveries are at most 1 + retries.",
    fallback: "the plan's default; for a callback, its message's",
    example: "3",
  },
  method: {
    about: "One of GET, POST, PUT, PATCH, DELETE. The body is sent with each of them.",
    fallback: "POST",
    example: "PUT",
  },
  retryDelay: {
    about:
      "Expression for the delay in milliseconds before a retry: numbers, `retried` (0 for the first retry), + - * / ( ), pow, exp, sqrt, abs, floor, ceil, round, min, max.",
    fallback: "an exponential back-off",
    example: "1000 * (1 + retried)",
  },
  delay: {
    about: "Duration before the first delivery, such as 50s, 10m or 1d10h30m.",
    fallback: "none",
    example: "10m",
  },
  flowControlKey: {
    about: "Messages of one key share limits; requires Flow-Control-Value.",
    fallback: "none",
    example: "carrier",
  },
  flowControlValue: {
    about:
      "`parallelism=<n>, rate=<n>, period=<duration or seconds>` with at least one of the first two; the period is 1s by default and 7d at most; requires Flow-Control-Key.",
    fallback: "none",
    example: "parallelism=2, rate=10, period=1m",
  },
  callbackLabel: {
    about: "Comma-separated labels by which logs and lists of dead letters find the message.",
    fallback: "none",
    example: "orders,north",
  },
  callbackTimeout: {
    about:
      "Duration such as 30s, 5m or 1h30m: the longest time from connecting to the last byte of the answer; bounded by the plan.",
    fallback: "the plan's",
    example: "30s",
  },
  callbackRetries: {
    about: "Integer: retries after a failed delivery, so that deliveries are at most 1 + retries.",
    fallback: "the plan's default; for a callback, its message's",
    example: "3",
  },
  callbackMethod: {
    about: "One of GET, POST, PUT, PATCH, DELETE. The body is sent with each of them.",
    fallback: "POST",
    example: "PUT",
  },
  callbackRetryDelay: {
    about:
      "Expression for the delay in milliseconds before a retry: numbers, `retried` (0 for the first retry), + - * / ( ), pow, exp, sqrt, abs, floor, ceil, round, min, max.",
    fallback: "an exponential back-off",
    example: "1000 * (1 + retried)",
  },
  callbackDelay: {
    about: "Duration before the first delivery, such as 50s, 10m or 1d10h30m.",
    fallback: "none",
    example: "10m",
  },
  callbackFlowControlKey: {
    about: "Messages of one key share limits; requires Flow-Control-Value.",
    fallback: "none",
    example: "carrier",
  },
  callbackFlowControlValue: {
    about:
      "`parallelism=<n>, rate=<n>, period=<duration or seconds>` with at least one of the first two; the period is 1s by default and 7d at most; requires Flow-Control-Key.",
    fallback: "none",
    example: "parallelism=2, rate=10, period=1m",
  },
  failureCallbackLabel: {
    about: "Comma-separated labels by which logs and lists of dead letters find the message.",
    fallback: "none",
    example: "orders,north",
  },
  failureCallbackTimeout: {
    about:
      "Duration such as 30s, 5m or 1h30m: the longest time from connecting to the last byte of the answer; bounded by the plan.",
    fallback: "the plan's",
    example: "30s",
  },
  failureCallbackRetries: {
    about: "Integer: retries after a failed delivery, so that deliveries are at most 1 + retries.",
    fallback: "the plan's default; for a callback, its message's",
    example: "3",
  },
  failureCallbackMethod: {
    about: "One of GET, POST, PUT, PATCH, DELETE. The body is sent with each of them.",
    fallback: "POST",
    example: "PUT",
  },
  failureCallbackRetryDelay: {
    about:
      "Expression for the delay in milliseconds before a retry: numbers, `retried` (0 for the first retry), + - * / ( ), pow, exp, sqrt, abs, floor, ceil, round, min, max.",
    fallback: "an exponential back-off",
    example: "1000 * (1 + retried)",
  },
  failureCallbackDelay: {
    about: "Duration before the first delivery, such as 50s, 10m or 1d10h30m.",
    fallback: "none",
    example: "10m",
  },
  failureCallbackFlowControlKey: {
    about: "Messages of one key share limits; requires Flow-Control-Value.",
    fallback: "none",
    example: "carrier",
  },
  failureCallbackFlowControlValue: {
    about:
      "`parallelism=<n>, rate=<n>, period=<duration or seconds>` with at least one of the first two; the period is 1s by default and 7d at most; requires Flow-Control-Key.",
    fallback: "none",
    example: "parallelism=2, rate=10, period=1m",
  },
  redactFields: {
    about:
      "Comma-separated list of body, headers, header[<name>]: shown as REDACTED:<SHA-256> everywhere except at the destination.",
    fallback: "none",
    example: "body,header[Authorization]",
  },
  notBefore: {
    about:
      "Unix timestamp in seconds (UTC), possibly with a fraction, before which the message is not delivered; overrides Delay.",
    fallback: "none",
    example: "1767225600",
  },
  deduplicationId: {
    about:
      "A message with the same id within 10 minutes is accepted and not sent; overrides Content-Based-Deduplication. Must not contain a colon in the Upstash- dialect.",
    fallback: "none",
    example: "order-17",
  },
  contentBasedDeduplication: {
    about:
      "true or false: a hash of destination, body, Content-Type and forwarded headers is the deduplication id.",
    fallback: "false",
    example: "true",
  },
  callback: {
    about:
      "URL to which the destination's answer is sent after each attempt; in UTF-8, by the same rules as the destination.",
    fallback: "none",
    example: "https://shop.example/callback",
  },
  failureCallback: {
    about:
      "URL that is called once all retries are used; in UTF-8, by the same rules as the destination.",
    fallback: "none",
    example: "https://shop.example/failed",
  },
  headerForward: {
    about:
      "true: all headers of this request without a prefix are sent to the destination, except hop-by-hop ones and Authorization.",
    fallback: "false",
    example: "true",
  },
  queueName: {
    about:
      "Queue that the message joins, which is made if it does not exist. Messages of a queue are delivered in order.",
    fallback: "none",
    example: "mail",
  },
  hop: {
    about:
      "Set by deliveries: how often this chain of messages has passed through this service. More than 8 is refused.",
    fallback: "0",
    example: "1",
  },
  cron: {
    about:
      "Five fields: minute, hour, day of month, month, day of week; or one of @yearly, @monthly, @weekly, @daily and @hourly. The time zone is UTC, or the one of the IANA database in `CRON_TZ=<zone>` before the fields. Required for a schedule.",
    fallback: "none",
    example: "0 9 * * *",
  },
  scheduleId: {
    about: "Name of a schedule: an existing one is replaced.",
    fallback: "a new one",
    example: "report",
  },
  dryRun: {
    about: "true or false: true makes no schedule, and returns its next five times.",
    fallback: "false",
    example: "true",
  },
  workflowRunId: {
    about:
      "Name of a run, in characters that need no escapes in a URL: the message starts the run, or belongs to it.",
    fallback: "none",
    example: "order-17",
  },
  workflowInit: {
    about: "true or false: true starts a run; otherwise the message belongs to an existing run.",
    fallback: "false",
    example: "true",
  },
  workflowCreatedAt: {
    about:
      "When the run was started, in Unix milliseconds: selects one of several runs with the same name.",
    fallback: "the latest",
    example: "1767225600000",
  },
  workflowCallType: {
    about: "The kind of message in its run: step, or toCallback for a call to a third party.",
    fallback: "step",
    example: "step",
  },
  workflowSdkVersion: {
    about: "The version of the protocol that the workflow client speaks: 1, if a run is named.",
    fallback: "none",
    example: "1",
  },
  workflowInvoke: {
    about:
      "true: a step of another run starts this run. The body names the step, whose result is the end of this run.",
    fallback: "false",
    example: "true",
  },
  workflowUnknownSdk: {
    about: "For a start, with any value: the endpoint is called first, and starts the run itself.",
    fallback: "none",
    example: "true",
  },
  workflowTriggerBySdk: {
    about: "For the start that such an endpoint makes: true.",
    fallback: "false",
    example: "true",
  },
  featureSet: {
    about:
      "Comma-separated list of the workflow client's features; LazyFetch, WF_DetectTrigger and WF_TriggerOnConfig are used.",
    fallback: "none",
    example: "LazyFetch",
  },
  telemetrySdk: {
    about:
      "For a step: a client in JavaScript that announces LazyFetch fetches a large history. Otherwise ignored.",
    fallback: "none",
    example: "@upstash/workflow@v1.3.3",
  },
} as const;

/** The meaning of each query parameter. */

export const parameterHelp = {
  cursor: "The cursor of the previous page; once",
  count: "Size of the page; once",
  messageId: "Ids of messages",
  messageIds: "The same as messageId",
  url: "Destination URL, as published; repeated, never split at commas",
  topicName: "URL group",
  scheduleId: "Schedule that made the message",
  queueName: "Queue",
  label: "Label",
  flowControlKey: "Flow control key",
  callerIp: "Address of the publisher",
  callerIP: "The same as callerIp",
  fromDate: "Unix milliseconds, inclusive; once",
  toDate: "Unix milliseconds, inclusive; once",
  host: "Host of the destination",
  path: "Path of the destination; repeated, never split at commas",
  async: "true: the answer does not wait for the end of the bulk action; once",
  dryRun: "true: nothing is done, and the answer says what would be done; once",
  state:
    "CREATED, ACTIVE, RETRY, ERROR, DELIVERED, FAILED, CANCEL_REQUESTED, CANCELED; IN_PROGRESS means ACTIVE, RETRY and ERROR. For bulk actions: IN_PROGRESS or FINISHED. For runs: RUN_STARTED, which is active, RUN_SUCCESS, RUN_FAILED, RUN_CANCELED, or the state of a step; once",
  search: "Text that the key contains; once",
  parallelism: "Calls at once, from 1; once. To unpin: true or false",
  rate: "Dispatches in a period, from 1; once. To unpin: true or false",
  period: "Seconds, only with rate; once. Default 1",
  dlqIds: "Ids of dead letters",
  responseStatus: "Status of the last response; 0 when there was none",
  order: "earliestFirst or latestFirst; once",
  trimBody: "Bodies are cut at this many bytes; 0 or -1 leaves them out; once",
  workflowUrl: "URL of the workflow, as published; repeated, never split at commas",
  workflowRunId: "Id of the runs; once",
  workflowCreatedAt: "When the run was started, Unix milliseconds; once",
  failureFunctionState: "CALLBACK_INPROGRESS, CALLBACK_SUCCESS, CALLBACK_FAIL or CALLBACK_CANCELED",
  failureCallbackState: "The same as failureFunctionState",
  source: "workflow: dead letters of runs, with the parameters of /v2/workflows/dlq; once",
  replaceBody: "true: the body of the request replaces the body of the message; once",
  wait: "Seconds, 1 to 60, that the answer waits for events after the cursor, earliestFirst. Without a cursor the answer begins at fromDate, or now, and does not wait. Each answer has the cursor for the next call. An event may come again within ten seconds, with the same messageId, state and time; once",
  groupBy:
    "messageId: one item for each message, 10 at most; once. For runs: workflowRunId, 10 runs at most",
  cancel: "false: the run has returned, and the body is the returned value; once. Default true",
  workflowRunIds: "These runs",
  workflowUrlExactMatch: "true: workflowUrl is the whole URL, and not its beginning; once",
  workflowRuns: "Runs, as workflowRunId@workflowCreatedAt; the other filters are ignored",
  steps: "all or none: runs without their steps; once. Default all",
  tenant: "Id of the tenant; once",
} as const;
