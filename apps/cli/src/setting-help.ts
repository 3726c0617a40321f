/** Made by `npm run generate` from the tables of headers and parameters: not to be edited. */

export const settingHelp = {
  label: {
    about: "Comma-separated labels to find the message by in logs and among dead letters.",
    fallback: "none",
    example: "orders,north",
  },
  timeout: {
    about:
      "Duration such as 30s, 5m or 1h30m: the longest time from connecting to the last byte of the answer; at most the plan's.",
    fallback: "the plan's",
    example: "30s",
  },
  retries: {
    about: "Integer: retries after a failed delivery, so that deliveries are at most 1 + retries.",
    fallback: "the plan's, of a callback its message's",
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
    about: "Comma-separated labels to find the message by in logs and among dead letters.",
    fallback: "none",
    example: "orders,north",
  },
  callbackTimeout: {
    about:
      "Duration such as 30s, 5m or 1h30m: the longest time from connecting to the last byte of the answer; at most the plan's.",
    fallback: "the plan's",
    example: "30s",
  },
  callbackRetries: {
    about: "Integer: retries after a failed delivery, so that deliveries are at most 1 + retries.",
    fallback: "the plan's, of a callback its message's",
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
    about: "Comma-separated labels to find the message by in logs and among dead letters.",
    fallback: "none",
    example: "orders,north",
  },
  failureCallbackTimeout: {
    about:
      "Duration such as 30s, 5m or 1h30m: the longest time from connecting to the last byte of the answer; at most the plan's.",
    fallback: "the plan's",
    example: "30s",
  },
  failureCallbackRetries: {
    about: "Integer: retries after a failed delivery, so that deliveries are at most 1 + retries.",
    fallback: "the plan's, of a callback its message's",
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
      "Comma-separated list of body, headers, header[<name>]: read as REDACTED:<SHA-256> everywhere but at the destination.",
    fallback: "none",
    example: "body,header[Authorization]",
  },
  notBefore: {
    about:
      "Unix timestamp in seconds (UTC), with a fraction perhaps, before which the message is not delivered; wins over Delay.",
    fallback: "none",
    example: "1767225600",
  },
  deduplicationId: {
    about:
      "A message with the same id within 10 minutes is accepted and not sent; wins over Content-Based-Deduplication. Must not hold a colon in the Upstash- dialect.",
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
      "URL that is sent the destination's answer after each delivery attempt; in UTF-8, read as the destination is.",
    fallback: "none",
    example: "https://shop.example/callback",
  },
  failureCallback: {
    about: "URL that is told once all retries are used; in UTF-8, read as the destination is.",
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
      "Queue that the message gets into; it is made if there is none. Its messages are delivered in their order.",
    fallback: "none",
    example: "mail",
  },
  hop: {
    about:
      "Set by deliveries: how often this chain of messages has passed through here. More than 8 is refused.",
    fallback: "0",
    example: "1",
  },
  cron: {
    about:
      "Five fields: minute, hour, day of month, month, day of week; or one of @yearly, @monthly, @weekly, @daily and @hourly; in UTC, or in the time zone of the IANA database that `CRON_TZ=<zone>` before them names. Of a schedule, which needs it.",
    fallback: "none",
    example: "0 9 * * *",
  },
  scheduleId: {
    about: "Name of a schedule: one that is there is replaced.",
    fallback: "a new one",
    example: "report",
  },
  dryRun: {
    about: "true or false: true makes no schedule, and answers with its next five times.",
    fallback: "false",
    example: "true",
  },
  workflowRunId: {
    about:
      "Name of a run, as a part of a URL that needs no escapes: the message starts it, or belongs to it.",
    fallback: "none",
    example: "order-17",
  },
  workflowInit: {
    about: "true or false: true starts a run; else the message belongs to one that is there.",
    fallback: "false",
    example: "true",
  },
  workflowCreatedAt: {
    about:
      "When the run was started, in Unix milliseconds: of several runs with one name, that one is meant.",
    fallback: "the latest",
    example: "1767225600000",
  },
  workflowCallType: {
    about: "What the message is for its run: step, or toCallback for a call to a third party.",
    fallback: "step",
    example: "step",
  },
  workflowSdkVersion: {
    about: "Of the protocol that the workflow client speaks: 1, where a run is named.",
    fallback: "none",
    example: "1",
  },
  workflowInvoke: {
    about:
      "true: the run is started by a step of another, which the body names, and which gets its end.",
    fallback: "false",
    example: "true",
  },
  workflowUnknownSdk: {
    about: "Of a start, with any value: its endpoint is asked first, and starts the run itself.",
    fallback: "none",
    example: "true",
  },
  workflowTriggerBySdk: {
    about: "Of the start that an endpoint makes which was asked so: true.",
    fallback: "false",
    example: "true",
  },
  featureSet: {
    about:
      "Comma-separated list of what the workflow client can do; of these LazyFetch, WF_DetectTrigger and WF_TriggerOnConfig matter.",
    fallback: "none",
    example: "LazyFetch",
  },
  telemetrySdk: {
    about:
      "Of a step: a client in JavaScript that announces LazyFetch fetches a large history. Else not looked at.",
    fallback: "none",
    example: "@upstash/workflow@v1.3.3",
  },
} as const;

/** The meaning of each query parameter. */

export const parameterHelp = {
  cursor: "From the page before; once",
  count: "Size of the page; once",
  messageId: "Of these messages",
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
  dryRun: "true: nothing is done, and the answer tells what would be; once",
  state:
    "CREATED, ACTIVE, RETRY, ERROR, DELIVERED, FAILED, CANCEL_REQUESTED, CANCELED; IN_PROGRESS stands for ACTIVE, RETRY and ERROR. Of bulk actions: IN_PROGRESS or FINISHED. Of runs: RUN_STARTED, which is active, RUN_SUCCESS, RUN_FAILED, RUN_CANCELED, or the state of a step; once",
  search: "Text that the key has in it; once",
  parallelism: "Calls at once, from 1; once. To unpin: true or false",
  rate: "Dispatches in a period, from 1; once. To unpin: true or false",
  period: "Seconds, with rate alone; once. Default 1",
  dlqIds: "These dead letters",
  responseStatus: "Status of the last response; 0 when there was none",
  order: "earliestFirst or latestFirst; once",
  trimBody: "Bodies are cut at so many bytes; 0 or -1 leaves them out; once",
  workflowUrl: "URL of the workflow, as published; repeated, never split at commas",
  workflowRunId: "Of the runs of this id; once",
  workflowCreatedAt: "Of the run that was started then, Unix milliseconds; once",
  failureFunctionState: "CALLBACK_INPROGRESS, CALLBACK_SUCCESS, CALLBACK_FAIL or CALLBACK_CANCELED",
  failureCallbackState: "The same as failureFunctionState",
  source: "workflow: dead letters of runs, with the parameters of /v2/workflows/dlq; once",
  replaceBody: "true: the body of the request takes the place of the message's; once",
  wait: "Seconds, 1 to 60, that the answer waits for events behind the cursor, earliestFirst. Without a cursor it begins at fromDate, or now, and waits for nothing. Each answer has the cursor of the next call. An event may come again within ten seconds: messageId, state and time tell; once",
  groupBy:
    "messageId: one item for each message, 10 at most; once. Of runs: workflowRunId, 10 runs at most",
  cancel: "false: the run has returned, and the body is what; once. Default true",
  workflowRunIds: "These runs",
  workflowUrlExactMatch: "true: workflowUrl is the whole URL, and not its beginning; once",
  workflowRuns: "These runs, as workflowRunId@workflowCreatedAt; the other filters are passed over",
  steps: "all or none: runs without their steps; once. Default all",
  tenant: "Of this tenant; once",
} as const;
