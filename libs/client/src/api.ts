/** Made by `npm run generate` from the tables of endpoints and headers: not to be edited. */

/** Several values are sent one by one. */

export type Parameter = string | number | boolean | readonly (string | number)[];

export type OneOrMany = string | number | boolean | (string | number | boolean)[];

/** A body in which the parameters of the query may stand instead. */

export type InBody<Query> = { [Name in keyof Query]: OneOrMany | null };

/** A list is sent with commas between its elements. */

export type Setting = string | number | boolean | readonly string[];

export const gatewayRoutes = {
  listChanges: "get audit",
  publishBatch: "post batch",
  readMessage: "get messages/{messageId}",
  cancelMessage: "delete messages/{messageId}",
  runMessageNow: "post messages/{messageId}/retry",
  cancelMessages: "delete messages",
  listBulkActions: "get bulkActions",
  readBulkAction: "get bulkActions/{actionId}",
  upsertEndpoints: "post topics/{urlGroupName}/endpoints",
  removeEndpoints: "delete topics/{urlGroupName}/endpoints",
  listGroups: "get topics",
  readGroup: "get topics/{urlGroupName}",
  configureGroup: "patch topics/{urlGroupName}",
  removeGroup: "delete topics/{urlGroupName}",
  listFlowKeys: "get flowControl",
  readFlowKey: "get flowControl/{flowControlKey}",
  pauseFlowKey: "post flowControl/{flowControlKey}/pause",
  resumeFlowKey: "post flowControl/{flowControlKey}/resume",
  resetFlowRate: "post flowControl/{flowControlKey}/resetRate",
  resetFlowKey: "post flowControl/{flowControlKey}/reset",
  readGlobalParallelism: "get globalParallelism",
  pinFlowKey: "post flowControl/{flowControlKey}/pin",
  unpinFlowKey: "post flowControl/{flowControlKey}/unpin",
  upsertQueue: "post queues",
  listQueues: "get queues",
  readQueue: "get queues/{queueName}",
  removeQueue: "delete queues/{queueName}",
  pauseQueue: "post queues/{queueName}/pause",
  resumeQueue: "post queues/{queueName}/resume",
  listDeadLetters: "get dlq",
  removeDeadLetters: "delete dlq",
  readDeadLetter: "get dlq/{dlqId}",
  removeDeadLetter: "delete dlq/{dlqId}",
  retryDeadLetter: "post dlq/retry/{dlqId}",
  retryDeadLetters: "post dlq/retry",
  readMe: "get me",
  listEvents: "get events",
  listLogs: "get logs",
  listCounts: "get counts",
  readOverview: "get overview",
  restartRun: "post workflows/dlq/restart/{dlqId}",
  restartRunOfLetter: "post dlq/restart/{dlqId}",
  restartRuns: "post workflows/dlq/restart",
  resumeRun: "post workflows/dlq/resume/{dlqId}",
  resumeRunOfLetter: "post dlq/resume/{dlqId}",
  resumeRuns: "post workflows/dlq/resume",
  readRunHistory: "get workflows/runs/{runId}",
  endRun: "delete workflows/runs/{runId}",
  cancelRuns: "delete workflows/runs",
  listRunLogs: "get workflows/logs",
  listRunEvents: "get workflows/events",
  listRunMessages: "get workflows/messageLogs",
  listFailedRuns: "get workflows/dlq",
  removeFailedRuns: "delete workflows/dlq",
  readFailedRun: "get workflows/dlq/{dlqId}",
  removeFailedRun: "delete workflows/dlq/{dlqId}",
  tellFailureAgain: "post workflows/dlq/callback/{dlqId}",
  cancelFailureFunction: "delete workflows/dlq/callback/{dlqId}",
  listSchedules: "get schedules",
  readSchedule: "get schedules/{scheduleId}",
  removeSchedule: "delete schedules/{scheduleId}",
  pauseSchedule: "patch schedules/{scheduleId}/pause",
  pauseScheduleByPost: "post schedules/{scheduleId}/pause",
  resumeSchedule: "patch schedules/{scheduleId}/resume",
  resumeScheduleByPost: "post schedules/{scheduleId}/resume",
  readKeys: "get keys",
  rotateKeys: "post keys/rotate",
  rotateKeysByItsOlderPath: "post rotate",
  triggerBatch: "post batch/trigger",
  waitForEvent: "post wait/{eventId}",
  notifyEvent: "post notify/{eventId}",
  notifyRun: "post notify/{runId}/{eventId}",
  listWaiters: "get waiters/{eventId}",
} as const;

export const managementRoutes = {
  listSearchIndexes: "get search",
  enterSearchIndex: "post search",
  readSearchIndex: "get search/{id}",
  strikeSearchIndex: "delete search/{id}",
  rotateSearchIndexTokens: "post search/{id}/rotate",
  reportThroughput: "post search/{id}/throughput",
  listTenants: "get tenants",
  createTenant: "post tenants",
  readTenant: "get tenants/{id}",
  changeTenant: "patch tenants/{id}",
  closeTenant: "delete tenants/{id}",
  listTokens: "get tenants/{id}/tokens",
  createToken: "post tenants/{id}/tokens",
  revokeToken: "delete tenants/{id}/tokens/{tokenId}",
  readTenantKeys: "get tenants/{id}/keys",
  rotateTenantKeys: "post tenants/{id}/keys/rotate",
  listAllChanges: "get audit/all",
} as const;

/** The operations that retry, pause, resume or cancel what is there. */

export const acts = [
  "cancelMessage",
  "runMessageNow",
  "cancelMessages",
  "pauseFlowKey",
  "resumeFlowKey",
  "resetFlowRate",
  "resetFlowKey",
  "pauseQueue",
  "resumeQueue",
  "retryDeadLetter",
  "retryDeadLetters",
  "restartRun",
  "restartRunOfLetter",
  "restartRuns",
  "resumeRun",
  "resumeRunOfLetter",
  "resumeRuns",
  "endRun",
  "cancelRuns",
  "tellFailureAgain",
  "cancelFailureFunction",
  "pauseSchedule",
  "pauseScheduleByPost",
  "resumeSchedule",
  "resumeScheduleByPost",
  "reportThroughput",
] as const;

export const targets = {
  publish: "publish",
  enqueue: "enqueue/{queueName}",
  trigger: "trigger",
  createSchedule: "schedules",
} as const;

const suffixes =
  "Label Timeout Retries Method Retry-Delay Delay Flow-Control-Key Flow-Control-Value Callback-Label Callback-Timeout Callback-Retries Callback-Method Callback-Retry-Delay Callback-Delay Callback-Flow-Control-Key Callback-Flow-Control-Value Failure-Callback-Label Failure-Callback-Timeout Failure-Callback-Retries Failure-Callback-Method Failure-Callback-Retry-Delay Failure-Callback-Delay Failure-Callback-Flow-Control-Key Failure-Callback-Flow-Control-Value Redact-Fields Not-Before Deduplication-Id Content-Based-Deduplication Callback Failure-Callback Header-Forward Queue-Name Hop Cron Schedule-Id Dry-Run Workflow-RunId Workflow-Init Workflow-CreatedAt Workflow-CallType Workflow-Sdk-Version Workflow-Invoke Workflow-Unknown-Sdk Workflow-Trigger-By-Sdk Feature-Set Telemetry-Sdk";

const named = (suffix: string): string =>
  suffix.replaceAll(/(^|-)(.)/g, (_, dash: string, letter: string) =>
    dash ? letter.toUpperCase() : letter.toLowerCase(),
  );

/** The header of each setting, without its prefix. */

export const settingNames = Object.fromEntries(
  suffixes.split(" ").map((suffix) => [named(suffix), suffix]),
) as Readonly<Record<keyof Settings, string>>;

/** The headers that configure a message, a callback, a run or a schedule. */
export type Settings = {
  /** Comma-separated labels by which logs and lists of dead letters find the message. */
  readonly label?: Setting | undefined;
  /** Duration such as 30s, 5m or 1h30m: the longest time from connecting to the last byte of the answer; bounded by the plan. */
  readonly timeout?: Setting | undefined;
  /** Integer: retries after a failed delivery, so that deliveries are at most 1 + retries. */
  readonly retries?: Setting | undefined;
  /** One of GET, POST, PUT, PATCH, DELETE. The body is sent with each of them. */
  readonly method?: Setting | undefined;
  /** Expression for the delay in milliseconds before a retry: numbers, `retried` (0 for the first retry), + - * / ( ), pow, exp, sqrt, abs, floor, ceil, round, min, max. */
  readonly retryDelay?: Setting | undefined;
  /** Duration before the first delivery, such as 50s, 10m or 1d10h30m. */
  readonly delay?: Setting | undefined;
  /** Messages of one key share limits; requires Flow-Control-Value. */
  readonly flowControlKey?: Setting | undefined;
  /** `parallelism=<n>, rate=<n>, period=<duration or seconds>` with at least one of the first two; the period is 1s by default and 7d at most; requires Flow-Control-Key. */
  readonly flowControlValue?: Setting | undefined;
  /** Comma-separated labels by which logs and lists of dead letters find the message. */
  readonly callbackLabel?: Setting | undefined;
  /** Duration such as 30s, 5m or 1h30m: the longest time from connecting to the last byte of the answer; bounded by the plan. */
  readonly callbackTimeout?: Setting | undefined;
  /** Integer: retries after a failed delivery, so that deliveries are at most 1 + retries. */
  readonly callbackRetries?: Setting | undefined;
  /** One of GET, POST, PUT, PATCH, DELETE. The body is sent with each of them. */
  readonly callbackMethod?: Setting | undefined;
  /** Expression for the delay in milliseconds before a retry: numbers, `retried` (0 for the first retry), + - * / ( ), pow, exp, sqrt, abs, floor, ceil, round, min, max. */
  readonly callbackRetryDelay?: Setting | undefined;
  /** Duration before the first delivery, such as 50s, 10m or 1d10h30m. */
  readonly callbackDelay?: Setting | undefined;
  /** Messages of one key share limits; requires Flow-Control-Value. */
  readonly callbackFlowControlKey?: Setting | undefined;
  /** `parallelism=<n>, rate=<n>, period=<duration or seconds>` with at least one of the first two; the period is 1s by default and 7d at most; requires Flow-Control-Key. */
  readonly callbackFlowControlValue?: Setting | undefined;
  /** Comma-separated labels by which logs and lists of dead letters find the message. */
  readonly failureCallbackLabel?: Setting | undefined;
  /** Duration such as 30s, 5m or 1h30m: the longest time from connecting to the last byte of the answer; bounded by the plan. */
  readonly failureCallbackTimeout?: Setting | undefined;
  /** Integer: retries after a failed delivery, so that deliveries are at most 1 + retries. */
  readonly failureCallbackRetries?: Setting | undefined;
  /** One of GET, POST, PUT, PATCH, DELETE. The body is sent with each of them. */
  readonly failureCallbackMethod?: Setting | undefined;
  /** Expression for the delay in milliseconds before a retry: numbers, `retried` (0 for the first retry), + - * / ( ), pow, exp, sqrt, abs, floor, ceil, round, min, max. */
  readonly failureCallbackRetryDelay?: Setting | undefined;
  /** Duration before the first delivery, such as 50s, 10m or 1d10h30m. */
  readonly failureCallbackDelay?: Setting | undefined;
  /** Messages of one key share limits; requires Flow-Control-Value. */
  readonly failureCallbackFlowControlKey?: Setting | undefined;
  /** `parallelism=<n>, rate=<n>, period=<duration or seconds>` with at least one of the first two; the period is 1s by default and 7d at most; requires Flow-Control-Key. */
  readonly failureCallbackFlowControlValue?: Setting | undefined;
  /** Comma-separated list of body, headers, header[<name>]: shown as REDACTED:<SHA-256> everywhere except at the destination. */
  readonly redactFields?: Setting | undefined;
  /** Unix timestamp in seconds (UTC), possibly with a fraction, before which the message is not delivered; overrides Delay. */
  readonly notBefore?: Setting | undefined;
  /** A message with the same id within 10 minutes is accepted and not sent; overrides Content-Based-Deduplication. Must not contain a colon in the Upstash- dialect. */
  readonly deduplicationId?: Setting | undefined;
  /** true or false: a hash of destination, body, Content-Type and forwarded headers is the deduplication id. */
  readonly contentBasedDeduplication?: Setting | undefined;
  /** URL to which the destination's answer is sent after each attempt; in UTF-8, by the same rules as the destination. */
  readonly callback?: Setting | undefined;
  /** URL that is called once all retries are used; in UTF-8, by the same rules as the destination. */
  readonly failureCallback?: Setting | undefined;
  /** true: all headers of this request without a prefix are sent to the destination, except hop-by-hop ones and Authorization. */
  readonly headerForward?: Setting | undefined;
  /** Queue that the message joins, which is made if it does not exist. Messages of a queue are delivered in order. */
  readonly queueName?: Setting | undefined;
  /** Set by deliveries: how often this chain of messages has passed through this service. More than 8 is refused. */
  readonly hop?: Setting | undefined;
  /** Five fields: minute, hour, day of month, month, day of week; or one of @yearly, @monthly, @weekly, @daily and @hourly. The time zone is UTC, or the one of the IANA database in `CRON_TZ=<zone>` before the fields. Required for a schedule. */
  readonly cron?: Setting | undefined;
  /** Name of a schedule: an existing one is replaced. */
  readonly scheduleId?: Setting | undefined;
  /** true or false: true makes no schedule, and returns its next five times. */
  readonly dryRun?: Setting | undefined;
  /** Name of a run, in characters that need no escapes in a URL: the message starts the run, or belongs to it. */
  readonly workflowRunId?: Setting | undefined;
  /** true or false: true starts a run; otherwise the message belongs to an existing run. */
  readonly workflowInit?: Setting | undefined;
  /** When the run was started, in Unix milliseconds: selects one of several runs with the same name. */
  readonly workflowCreatedAt?: Setting | undefined;
  /** The kind of message in its run: step, or toCallback for a call to a third party. */
  readonly workflowCallType?: Setting | undefined;
  /** The version of the protocol that the workflow client speaks: 1, if a run is named. */
  readonly workflowSdkVersion?: Setting | undefined;
  /** true: a step of another run starts this run. The body names the step, whose result is the end of this run. */
  readonly workflowInvoke?: Setting | undefined;
  /** For a start, with any value: the endpoint is called first, and starts the run itself. */
  readonly workflowUnknownSdk?: Setting | undefined;
  /** For the start that such an endpoint makes: true. */
  readonly workflowTriggerBySdk?: Setting | undefined;
  /** Comma-separated list of the workflow client's features; LazyFetch, WF_DetectTrigger and WF_TriggerOnConfig are used. */
  readonly featureSet?: Setting | undefined;
  /** For a step: a client in JavaScript that announces LazyFetch fetches a large history. Otherwise ignored. */
  readonly telemetrySdk?: Setting | undefined;
};

/** What a refusal may be: docs/errors.md. */
export type FaultCode =
  | "malformed"
  | "unauthorized"
  | "forbidden"
  | "not_found"
  | "method_not_allowed"
  | "timed_out"
  | "conflict"
  | "beyond_plan"
  | "run_ended"
  | "run_refused"
  | "too_large"
  | "encoding_not_read"
  | "too_many_requests"
  | "headers_too_large"
  | "internal"
  | "overloaded"
  | "outcome_unknown"
  | "disk_full";

export type RunHistory = {
  messageId: string;
  /** Base64 */
  body: string;
  callType: "step";
}[];
export type Notified = {
  waiter: Waiter;
  /** The id of the delivery that the wait has caused */
  messageId?: string;
  /** Why the wait has not ended */
  error?: string;
  workflowRunId: string;
  workflowCreatedAt: number;
}[];

export interface Operations {
  publish: {
    answer: PublishResult | PublishResult[];
  };
  enqueue: {
    answer: PublishResult | PublishResult[];
  };
  trigger: {
    answer: StartedRun;
  };
  createSchedule: {
    answer:
      | {
          scheduleId: string;
        }
      | {
          dryRun: true;
          /**
           * The next five times, or fewer if there are no more
           *
           * Items: Unix timestamp in milliseconds
           */
          nextScheduleTimes: number[];
        };
  };
  listChanges: {
    query: {
      cursor?: Parameter;
      count?: Parameter;
    };
    answer: {
      /** The cursor of the next page; absent on the last page */
      cursor?: string;
      changes: Change[];
    };
  };
  publishBatch: {
    /** @maxItems 10000 */
    body: {
      /** A URL, or the name of a URL group */
      destination: string;
      /** The headers of a publish, with names in any case */
      headers?: {
        [k: string]: string | string[];
      } | null;
      /** Sent as UTF-8 */
      body?: string | null;
      /** Queue that the message joins */
      queue?: string | null;
    }[];
    answer: (PublishResult | PublishResult[] | Refusal)[];
  };
  readMessage: {
    answer: Message;
  };
  cancelMessage: {
    answer: {
      cancelled: number;
    };
  };
  runMessageNow: {
    answer: undefined;
  };
  cancelMessages: {
    query: {
      messageId?: Parameter;
      messageIds?: Parameter;
      url?: Parameter;
      topicName?: Parameter;
      scheduleId?: Parameter;
      queueName?: Parameter;
      label?: Parameter;
      flowControlKey?: Parameter;
      callerIp?: Parameter;
      callerIP?: Parameter;
      fromDate?: Parameter;
      toDate?: Parameter;
      host?: Parameter;
      path?: Parameter;
      async?: Parameter;
      count?: Parameter;
      dryRun?: Parameter;
    };
    body: InBody<Operations["cancelMessages"]["query"]>;
    answer:
      | CancelDryRun
      | {
          /** Present if a bulk action continues the call: how many matched */
          cancelled: number;
          /** Present if a bulk action continues the call: its id */
          actionId?: string;
        };
  };
  listBulkActions: {
    query: {
      cursor?: Parameter;
      count?: Parameter;
      state?: Parameter;
    };
    answer: {
      /** The cursor of the next page; absent on the last page */
      cursor?: string;
      bulkActions: BulkAction[];
    };
  };
  readBulkAction: {
    answer: BulkAction;
  };
  upsertEndpoints: {
    body: {
      /** @minItems 1 */
      endpoints: [
        {
          url: string;
          name?: string | null;
        },
        ...{
          url: string;
          name?: string | null;
        }[],
      ];
    };
    answer: undefined;
  };
  removeEndpoints: {
    body: {
      /** @minItems 1 */
      endpoints: [
        {
          url?: string | null;
          name?: string | null;
        },
        ...{
          url?: string | null;
          name?: string | null;
        }[],
      ];
    };
    answer: undefined;
  };
  listGroups: {
    answer: UrlGroup[];
  };
  readGroup: {
    answer: UrlGroup;
  };
  configureGroup: {
    body: {
      headers: {
        [k: string]: string | string[];
      };
    };
    answer: undefined;
  };
  removeGroup: {
    answer: undefined;
  };
  listFlowKeys: {
    query: {
      search?: Parameter;
    };
    answer: FlowKey[];
  };
  readFlowKey: {
    answer: FlowKey;
  };
  pauseFlowKey: {
    answer: undefined;
  };
  resumeFlowKey: {
    answer: undefined;
  };
  resetFlowRate: {
    answer: undefined;
  };
  resetFlowKey: {
    answer: undefined;
  };
  readGlobalParallelism: {
    answer: GlobalParallelism;
  };
  pinFlowKey: {
    query: {
      parallelism?: Parameter;
      rate?: Parameter;
      period?: Parameter;
    };
    answer: undefined;
  };
  unpinFlowKey: {
    query: {
      parallelism?: Parameter;
      rate?: Parameter;
    };
    answer: undefined;
  };
  upsertQueue: {
    body: {
      queueName: string;
      /** If absent, unchanged, or 1 for a new queue */
      parallelism?: number | null;
      /** If absent, unchanged, or false for a new queue */
      paused?: boolean | null;
    };
    answer: undefined;
  };
  listQueues: {
    answer: Queue[];
  };
  readQueue: {
    answer: Queue;
  };
  removeQueue: {
    query: {
      dryRun?: Parameter;
    };
    answer:
      | {
          dryRun: true;
          /** Messages that would be cancelled */
          matched: number;
        }
      | undefined;
  };
  pauseQueue: {
    answer: undefined;
  };
  resumeQueue: {
    answer: undefined;
  };
  listDeadLetters: {
    query: {
      dlqIds?: Parameter;
      messageId?: Parameter;
      messageIds?: Parameter;
      url?: Parameter;
      topicName?: Parameter;
      scheduleId?: Parameter;
      queueName?: Parameter;
      label?: Parameter;
      flowControlKey?: Parameter;
      callerIp?: Parameter;
      callerIP?: Parameter;
      fromDate?: Parameter;
      toDate?: Parameter;
      responseStatus?: Parameter;
      cursor?: Parameter;
      count?: Parameter;
      order?: Parameter;
      trimBody?: Parameter;
      workflowUrl?: Parameter;
      workflowRunId?: Parameter;
      workflowCreatedAt?: Parameter;
      failureFunctionState?: Parameter;
      failureCallbackState?: Parameter;
      source?: Parameter;
    };
    answer:
      | {
          /** The cursor of the next page; absent on the last page */
          cursor?: string;
          messages: DeadLetter[];
        }
      | {
          /** The cursor of the next page; absent on the last page */
          cursor?: string;
          messages: FailedRun[];
        };
  };
  removeDeadLetters: {
    query: {
      dlqIds?: Parameter;
      messageId?: Parameter;
      messageIds?: Parameter;
      url?: Parameter;
      topicName?: Parameter;
      scheduleId?: Parameter;
      queueName?: Parameter;
      label?: Parameter;
      flowControlKey?: Parameter;
      callerIp?: Parameter;
      callerIP?: Parameter;
      fromDate?: Parameter;
      toDate?: Parameter;
      responseStatus?: Parameter;
      count?: Parameter;
      cursor?: Parameter;
      dryRun?: Parameter;
    };
    body: InBody<Operations["removeDeadLetters"]["query"]>;
    answer:
      | {
          deleted: number;
          /** The cursor of the next page; absent on the last page */
          cursor?: string;
        }
      | DryRun;
  };
  readDeadLetter: {
    answer: DeadLetter;
  };
  removeDeadLetter: {
    answer: undefined;
  };
  retryDeadLetter: {
    query: {
      replaceBody?: Parameter;
    };
    answer: {
      messageId: string;
    };
  };
  retryDeadLetters: {
    query: {
      dlqIds?: Parameter;
      messageId?: Parameter;
      messageIds?: Parameter;
      url?: Parameter;
      topicName?: Parameter;
      scheduleId?: Parameter;
      queueName?: Parameter;
      label?: Parameter;
      flowControlKey?: Parameter;
      callerIp?: Parameter;
      callerIP?: Parameter;
      fromDate?: Parameter;
      toDate?: Parameter;
      responseStatus?: Parameter;
      count?: Parameter;
      cursor?: Parameter;
      dryRun?: Parameter;
    };
    body: InBody<Operations["retryDeadLetters"]["query"]>;
    answer:
      | DryRun
      | {
          cursor: string;
          responses: {
            messageId: string;
          }[];
        };
  };
  readMe: {
    answer: Me;
  };
  listEvents: {
    query: {
      messageId?: Parameter;
      messageIds?: Parameter;
      url?: Parameter;
      topicName?: Parameter;
      scheduleId?: Parameter;
      queueName?: Parameter;
      label?: Parameter;
      flowControlKey?: Parameter;
      callerIp?: Parameter;
      callerIP?: Parameter;
      fromDate?: Parameter;
      toDate?: Parameter;
      state?: Parameter;
      host?: Parameter;
      path?: Parameter;
      cursor?: Parameter;
      count?: Parameter;
      order?: Parameter;
      trimBody?: Parameter;
      wait?: Parameter;
    };
    answer: {
      /** The cursor of the next page; absent on the last page */
      cursor?: string;
      events: LogEntry[];
    };
  };
  listLogs: {
    query: {
      messageId?: Parameter;
      messageIds?: Parameter;
      url?: Parameter;
      topicName?: Parameter;
      scheduleId?: Parameter;
      queueName?: Parameter;
      label?: Parameter;
      flowControlKey?: Parameter;
      callerIp?: Parameter;
      callerIP?: Parameter;
      fromDate?: Parameter;
      toDate?: Parameter;
      state?: Parameter;
      host?: Parameter;
      path?: Parameter;
      cursor?: Parameter;
      count?: Parameter;
      order?: Parameter;
      trimBody?: Parameter;
      groupBy?: Parameter;
    };
    answer:
      | {
          /** The cursor of the next page; absent on the last page */
          cursor?: string;
          events: LogEntry[];
          logs: LogEntry[];
        }
      | {
          /** The cursor of the next page; absent on the last page */
          cursor?: string;
          messages: {
            messageId: string;
            events: LogEntry[];
          }[];
        };
  };
  listCounts: {
    query: {
      fromDate?: Parameter;
      toDate?: Parameter;
    };
    answer: {
      minutes: MinuteCounts[];
    };
  };
  readOverview: {
    answer: Overview;
  };
  restartRun: {
    answer: RestartedRun;
  };
  restartRunOfLetter: {
    answer: RestartedRun;
  };
  restartRuns: {
    query: {
      workflowUrl?: Parameter;
      url?: Parameter;
      workflowRunId?: Parameter;
      workflowCreatedAt?: Parameter;
      label?: Parameter;
      flowControlKey?: Parameter;
      callerIp?: Parameter;
      fromDate?: Parameter;
      toDate?: Parameter;
      dlqIds?: Parameter;
      responseStatus?: Parameter;
      cursor?: Parameter;
      count?: Parameter;
      failureFunctionState?: Parameter;
      failureCallbackState?: Parameter;
      source?: Parameter;
    };
    answer: {
      /** The cursor of the next page; absent on the last page */
      cursor?: string;
      workflowRuns: RestartedRun[];
    };
  };
  resumeRun: {
    answer: RestartedRun;
  };
  resumeRunOfLetter: {
    answer: RestartedRun;
  };
  resumeRuns: {
    query: {
      workflowUrl?: Parameter;
      url?: Parameter;
      workflowRunId?: Parameter;
      workflowCreatedAt?: Parameter;
      label?: Parameter;
      flowControlKey?: Parameter;
      callerIp?: Parameter;
      fromDate?: Parameter;
      toDate?: Parameter;
      dlqIds?: Parameter;
      responseStatus?: Parameter;
      cursor?: Parameter;
      count?: Parameter;
      failureFunctionState?: Parameter;
      failureCallbackState?: Parameter;
      source?: Parameter;
    };
    answer: {
      /** The cursor of the next page; absent on the last page */
      cursor?: string;
      workflowRuns: RestartedRun[];
    };
  };
  readRunHistory: {
    answer: RunHistory;
  };
  endRun: {
    query: {
      cancel?: Parameter;
    };
    answer: {
      /** Runs that were active and are now cancelled */
      cancelled: number;
    };
  };
  cancelRuns: {
    query: {
      workflowRunIds?: Parameter;
      workflowUrl?: Parameter;
      label?: Parameter;
      flowControlKey?: Parameter;
      callerIp?: Parameter;
      fromDate?: Parameter;
      toDate?: Parameter;
      workflowUrlExactMatch?: Parameter;
      host?: Parameter;
      path?: Parameter;
      count?: Parameter;
    };
    body: {
      workflowRunIds?: string[];
      /** The beginning of the URL */
      workflowUrl?: string;
    };
    answer: {
      /** Runs that were active and are now cancelled */
      cancelled: number;
    };
  };
  listRunLogs: {
    query: {
      workflowUrl?: Parameter;
      workflowRunId?: Parameter;
      workflowCreatedAt?: Parameter;
      label?: Parameter;
      flowControlKey?: Parameter;
      callerIp?: Parameter;
      fromDate?: Parameter;
      toDate?: Parameter;
      host?: Parameter;
      path?: Parameter;
      workflowRuns?: Parameter;
      messageId?: Parameter;
      state?: Parameter;
      cursor?: Parameter;
      count?: Parameter;
      trimBody?: Parameter;
      groupBy?: Parameter;
      steps?: Parameter;
    };
    answer: {
      cursor: string;
      runs: Run[];
    };
  };
  listRunEvents: {
    query: {
      workflowUrl?: Parameter;
      workflowRunId?: Parameter;
      workflowCreatedAt?: Parameter;
      label?: Parameter;
      flowControlKey?: Parameter;
      callerIp?: Parameter;
      fromDate?: Parameter;
      toDate?: Parameter;
      host?: Parameter;
      path?: Parameter;
      workflowRuns?: Parameter;
      messageId?: Parameter;
      state?: Parameter;
      cursor?: Parameter;
      count?: Parameter;
      trimBody?: Parameter;
      groupBy?: Parameter;
    };
    answer:
      | {
          cursor?: string;
          events: RunEvent[];
        }
      | {
          cursor?: string;
          runs: Run[];
        };
  };
  listRunMessages: {
    query: {
      workflowUrl?: Parameter;
      workflowRunId?: Parameter;
      workflowCreatedAt?: Parameter;
      label?: Parameter;
      flowControlKey?: Parameter;
      callerIp?: Parameter;
      fromDate?: Parameter;
      toDate?: Parameter;
      host?: Parameter;
      path?: Parameter;
      workflowRuns?: Parameter;
      messageId?: Parameter;
      state?: Parameter;
      cursor?: Parameter;
      count?: Parameter;
      trimBody?: Parameter;
    };
    answer: {
      cursor: string;
      events: RunMessageEvent[];
    };
  };
  listFailedRuns: {
    query: {
      workflowUrl?: Parameter;
      url?: Parameter;
      workflowRunId?: Parameter;
      workflowCreatedAt?: Parameter;
      label?: Parameter;
      flowControlKey?: Parameter;
      callerIp?: Parameter;
      fromDate?: Parameter;
      toDate?: Parameter;
      dlqIds?: Parameter;
      responseStatus?: Parameter;
      cursor?: Parameter;
      count?: Parameter;
      failureFunctionState?: Parameter;
      failureCallbackState?: Parameter;
      source?: Parameter;
    };
    answer: {
      cursor: string;
      messages: FailedRun[];
    };
  };
  removeFailedRuns: {
    query: {
      workflowUrl?: Parameter;
      url?: Parameter;
      workflowRunId?: Parameter;
      workflowCreatedAt?: Parameter;
      label?: Parameter;
      flowControlKey?: Parameter;
      callerIp?: Parameter;
      fromDate?: Parameter;
      toDate?: Parameter;
      dlqIds?: Parameter;
      responseStatus?: Parameter;
      cursor?: Parameter;
      count?: Parameter;
      failureFunctionState?: Parameter;
      failureCallbackState?: Parameter;
      source?: Parameter;
    };
    answer: {
      deleted: number;
      /** The cursor of the next page; absent on the last page */
      cursor?: string;
    };
  };
  readFailedRun: {
    answer: FailedRun;
  };
  removeFailedRun: {
    answer: undefined;
  };
  tellFailureAgain: {
    answer: {
      workflowRunId: string;
      /** Unix timestamp in milliseconds */
      workflowCreatedAt: number;
    };
  };
  cancelFailureFunction: {
    answer: undefined;
  };
  listSchedules: {
    query: {
      count?: Parameter;
      cursor?: Parameter;
    };
    answer: Schedule[];
  };
  readSchedule: {
    answer: Schedule;
  };
  removeSchedule: {
    answer: undefined;
  };
  pauseSchedule: {
    answer: undefined;
  };
  pauseScheduleByPost: {
    answer: undefined;
  };
  resumeSchedule: {
    answer: undefined;
  };
  resumeScheduleByPost: {
    answer: undefined;
  };
  readKeys: {
    answer: SigningKeys;
  };
  rotateKeys: {
    answer: SigningKeys;
  };
  rotateKeysByItsOlderPath: {
    answer: SigningKeys;
  };
  triggerBatch: {
    /** @maxItems 10000 */
    body: {
      /** A URL, or the name of a URL group */
      destination: string;
      /** The headers of a publish, with names in any case */
      headers?: {
        [k: string]: string | string[];
      } | null;
      /** Sent as UTF-8 */
      body?: string | null;
      /** Queue that the message joins */
      queue?: string | null;
    }[];
    answer: {
      workflowRunId: string;
      /** Unix milliseconds */
      workflowCreatedAt: number;
      deduplicated?: true;
    }[];
  };
  waitForEvent: {
    body: {
      /** The URL of the run's endpoint */
      url: string;
      /** Duration; default 7d */
      timeout?: string;
      step: {
        stepId: number;
        [k: string]: unknown;
      };
    };
    answer: undefined;
  };
  notifyEvent: {
    answer: Notified;
  };
  notifyRun: {
    answer: Notified;
  };
  listWaiters: {
    answer: Waiter[];
  };
  listSearchIndexes: {
    answer: SearchIndex[];
  };
  enterSearchIndex: {
    body: {
      customer_id: string;
      name: string;
      endpoint: string;
      type: "free" | "payg" | "fixed";
      region: "eu-west-1" | "us-central1";
      partner_email?: string;
      input_enrichment_enabled?: boolean;
      max_vector_count?: number;
      /** -1: unlimited */
      max_monthly_reranks?: number;
      /** -1: unlimited */
      max_daily_updates?: number;
      /** -1: unlimited */
      max_daily_queries?: number;
      /** -1: unlimited */
      max_monthly_bandwidth?: number;
      max_writes_per_second?: number;
      max_query_per_second?: number;
      max_reads_per_request?: number;
      max_writes_per_request?: number;
    };
    answer: SearchIndex;
  };
  readSearchIndex: {
    answer: SearchIndex;
  };
  strikeSearchIndex: {
    answer: undefined;
  };
  rotateSearchIndexTokens: {
    answer: SearchIndex;
  };
  reportThroughput: {
    body: {
      y: number;
    };
    answer: SearchIndex;
  };
  listTenants: {
    answer: Tenant[];
  };
  createTenant: {
    body: {
      id: string;
      /** The family of headers of the tenant's messages if a publish uses none */
      dialect?: "service" | "upstash";
      plan?: {
        /** Retries of a publish that does not set them */
        retriesDefault?: number;
        retriesMax?: number;
        delayMsMax?: number;
        /** Timeout of a publish that does not set one */
        timeoutMsDefault?: number;
        timeoutMsMax?: number;
        bodyBytesMax?: number;
        /** Bytes of a whole batch as it is sent */
        batchBytesMax?: number;
        /** Bytes of a response that are kept */
        responseBytesMax?: number;
        groupEndpointsMax?: number;
        groupsMax?: number;
        queuesMax?: number;
        /** The highest parallelism of a queue */
        queueParallelismMax?: number;
        schedulesMax?: number;
        /** Calls at once; the highest value means no cap */
        parallelismMax?: number;
        /** Messages in a day of UTC; the highest value means no quota */
        messagesPerDayMax?: number;
        /** Lists in a second at each gateway; the highest value means no quota */
        listsPerSecondMax?: number;
        /** How long the events of messages are kept */
        logMs?: number;
        /** How long the bodies of ended messages are kept; at most as long as the log */
        keepBodiesMs?: number;
        /** How long dead letters are kept */
        deadLetterMs?: number;
        /** Messages that have not ended */
        backlogMax?: number;
      };
    };
    answer: Tenant;
  };
  readTenant: {
    answer: Tenant;
  };
  changeTenant: {
    body: {
      /** The family of headers of the tenant's messages if a publish uses none */
      dialect?: "service" | "upstash";
      plan?: {
        /** Retries of a publish that does not set them */
        retriesDefault?: number;
        retriesMax?: number;
        delayMsMax?: number;
        /** Timeout of a publish that does not set one */
        timeoutMsDefault?: number;
        timeoutMsMax?: number;
        bodyBytesMax?: number;
        /** Bytes of a whole batch as it is sent */
        batchBytesMax?: number;
        /** Bytes of a response that are kept */
        responseBytesMax?: number;
        groupEndpointsMax?: number;
        groupsMax?: number;
        queuesMax?: number;
        /** The highest parallelism of a queue */
        queueParallelismMax?: number;
        schedulesMax?: number;
        /** Calls at once; the highest value means no cap */
        parallelismMax?: number;
        /** Messages in a day of UTC; the highest value means no quota */
        messagesPerDayMax?: number;
        /** Lists in a second at each gateway; the highest value means no quota */
        listsPerSecondMax?: number;
        /** How long the events of messages are kept */
        logMs?: number;
        /** How long the bodies of ended messages are kept; at most as long as the log */
        keepBodiesMs?: number;
        /** How long dead letters are kept */
        deadLetterMs?: number;
        /** Messages that have not ended */
        backlogMax?: number;
      };
    };
    answer: Tenant;
  };
  closeTenant: {
    answer: undefined;
  };
  listTokens: {
    answer: Token[];
  };
  createToken: {
    body: {
      /** `full` may do everything; `read` reads everything except signing keys, and changes nothing; `operate` may also retry, pause, resume and cancel; `publish` may publish and start runs, and read nothing; `queue:NAME` may do the operations whose path names that queue, and no others */
      scope: string;
      name?: string;
      expiresAt?: number;
    };
    answer: NewToken;
  };
  revokeToken: {
    answer: undefined;
  };
  readTenantKeys: {
    answer: SigningKeys;
  };
  rotateTenantKeys: {
    answer: SigningKeys;
  };
  listAllChanges: {
    query: {
      cursor?: Parameter;
      count?: Parameter;
      tenant?: Parameter;
    };
    answer: {
      /** The cursor of the next page; absent on the last page */
      cursor?: string;
      changes: Change[];
    };
  };
}
export interface PublishResult {
  messageId: string;
  url?: string;
  /** The message is a duplicate and was not sent; messageId is that of the earlier message */
  deduplicated?: true;
}
export interface StartedRun {
  workflowRunId: string;
  /** Unix milliseconds */
  workflowCreatedAt: number;
}
export interface Change {
  id: string;
  /** Unix timestamp in milliseconds */
  at: number;
  /** Absent if no tenant is concerned */
  tenant?: string;
  /** The author of the change */
  by: {
    kind: "token" | "group" | "operator";
    /** The id of the token, the group of the provider, or the operator's user */
    id: string;
    /** The name of the token */
    name?: string;
    /** The role of the operator */
    role?: "admin" | "operator" | "viewer";
    /** The beginning of the id of the console's session */
    session?: string;
  };
  /** The operationId, or signIn and signOut of the console */
  operation: string;
  /** The path, without its query */
  resource: string;
  /** done, or the code of the fault; unknown while the change is under way, or if the process died before its end */
  result: string;
  /** The address of the caller; a tenant is not shown the operator's */
  address?: string;
}
export interface Refusal {
  error: string;
}
export interface Message {
  messageId: string;
  /** Destination URL, as published */
  url: string;
  /** URL group, when sent to one */
  topicName?: string;
  endpointName?: string;
  method: string;
  callback?: string;
  failureCallback?: string;
  /** The first label */
  label?: string;
  labels?: string[];
  flowControlKey?: string;
  parallelism?: number;
  rate?: number;
  /** Seconds; present whenever there is a flow control key */
  period?: number;
  retryDelayExpression?: string;
  /** Milliseconds */
  timeout: number;
  maxRetries: number;
  queueName?: string;
  scheduleId?: string;
  /** llm, when sent to api/llm */
  api?: string;
  /** Present on a retry: the failed message, and its dead letter */
  retryOf?: {
    messageId: string;
    dlqId: string;
  };
  /** Header names in canonical form, each with its values */
  header: {
    [k: string]: string[];
  };
  /** When it is UTF-8 and not empty */
  body?: string;
  /** When the body is not UTF-8 */
  bodyBase64?: string;
  /** Unix timestamp in milliseconds */
  notBefore: number;
  /** Unix timestamp in milliseconds */
  createdAt: number;
  /** Header names in canonical form, each with its values */
  callbackHeader?: {
    [k: string]: string[];
  };
  /** Header names in canonical form, each with its values */
  failureCallbackHeader?: {
    [k: string]: string[];
  };
  callerIP: string;
  /** The newest state in the log, which may be a moment late */
  state:
    | "CREATED"
    | "ACTIVE"
    | "RETRY"
    | "ERROR"
    | "DELIVERED"
    | "FAILED"
    | "CANCEL_REQUESTED"
    | "CANCELED";
  /** Until when the body of a delivered or cancelled message is, or was, kept, by `keepBodiesMs` of the plan. The body is removed earlier if the disk of the store is too full */
  bodyKeptUntil?: number;
  /** The attempts in the log: at most the latest 250, the earliest first */
  attempts: {
    /** Unix timestamp in milliseconds */
    startedAt?: number;
    /** Unix timestamp in milliseconds */
    endedAt: number;
    tookMs?: number;
    ended: "delivered" | "failed" | "canceled";
    /** Status of the destination's answer, if one came */
    answerStatus?: number;
    /** Size of the received part of the answer's body */
    answerBytes?: number;
    /** The beginning of the body that answered the last attempt, at most 8 KiB, when it is UTF-8 and not empty. The answer that delivered a message is kept as long as the message's body, the answer to a failed attempt as long as the log */
    answerBody?: string;
    /** When answerBody is not UTF-8 */
    answerBodyBase64?: string;
    /** The answer's body is longer than answerBody, see answerBytes */
    answerTruncated?: true;
    /** Why there was no answer, or where the answer redirects to */
    error?: string;
  }[];
}
export interface CancelDryRun {
  dryRun: true;
  /** At most 100,000 are counted */
  matched: number;
}
export interface BulkAction {
  actionId: string;
  /** Whether messages or workflow runs are cancelled */
  kind: "cancel" | "cancelRuns";
  state: "IN_PROGRESS" | "FINISHED";
  /** How many matched when the action was accepted; never less than processed */
  total: number;
  /** How many were cancelled so far */
  processed: number;
  /** Unix timestamp in milliseconds */
  createdAt: number;
  /** Unix timestamp in milliseconds */
  completedAt?: number;
  /** The filter as requested; empty for all */
  filter: {
    [k: string]: string[];
  };
}
export interface UrlGroup {
  name: string;
  /** Unix timestamp in milliseconds */
  createdAt: number;
  /** Unix timestamp in milliseconds */
  updatedAt: number;
  /** Headers of every publish to the group that does not give its own */
  headers?: {
    [k: string]: string | string[];
  };
  /** In the order in which they were added */
  endpoints: {
    url: string;
    name?: string;
  }[];
}
export interface FlowKey {
  flowControlKey: string;
  /** Messages that wait for their turn */
  waitListSize: number;
  /** 0: unlimited */
  parallelismMax: number;
  /** Slots in use now */
  parallelismCount: number;
  /** 0: unlimited */
  rateMax: number;
  /** Dispatches in the present period */
  rateCount: number;
  /** Seconds */
  ratePeriod: number;
  /** Unix seconds; 0 if no period has begun */
  ratePeriodStart: number;
  isPaused: boolean;
  isPinnedParallelism: boolean;
  isPinnedRate: boolean;
}
export interface GlobalParallelism {
  /** The cap of the plan; 1,000,000 means no cap */
  parallelismMax: number;
  /** Calls under way */
  parallelismCount: number;
}
export interface Queue {
  name: string;
  /** Unix timestamp in milliseconds */
  createdAt: number;
  /** Unix timestamp in milliseconds */
  updatedAt: number;
  /** How many messages of the queue may be under way at once */
  parallelism: number;
  paused: boolean;
  /** Messages that have not ended */
  lag: number;
}
export interface DeadLetter {
  messageId: string;
  /** Destination URL, as published */
  url: string;
  /** URL group, when sent to one */
  topicName?: string;
  endpointName?: string;
  method: string;
  callback?: string;
  failureCallback?: string;
  /** The first label */
  label?: string;
  labels?: string[];
  flowControlKey?: string;
  parallelism?: number;
  rate?: number;
  /** Seconds; present whenever there is a flow control key */
  period?: number;
  retryDelayExpression?: string;
  /** Milliseconds */
  timeout: number;
  maxRetries: number;
  queueName?: string;
  scheduleId?: string;
  /** llm, when sent to api/llm */
  api?: string;
  /** Present on a retry: the failed message, and its dead letter */
  retryOf?: {
    messageId: string;
    dlqId: string;
  };
  /** Header names in canonical form, each with its values */
  header: {
    [k: string]: string[];
  };
  /** When it is UTF-8 and not empty */
  body?: string;
  /** When the body is not UTF-8 */
  bodyBase64?: string;
  /** Unix timestamp in milliseconds */
  notBefore: number;
  /** Unix timestamp in milliseconds */
  createdAt: number;
  /** Header names in canonical form, each with its values */
  callbackHeader?: {
    [k: string]: string[];
  };
  /** Header names in canonical form, each with its values */
  failureCallbackHeader?: {
    [k: string]: string[];
  };
  callerIP: string;
  dlqId: string;
  /** 0 when there was no response */
  responseStatus: number;
  /** Why there was no response, or where the response redirects to */
  error?: string;
  /** Header names in canonical form, each with its values */
  responseHeader?: {
    [k: string]: string[];
  };
  /** When it is UTF-8 and not empty */
  responseBody?: string;
  /** When the response is not UTF-8 */
  responseBodyBase64?: string;
  /** The response is incomplete: it broke off, or is longer than the kept part */
  truncated?: true;
}
export interface FailedRun {
  dlqId: string;
  workflowUrl: string;
  workflowRunId: string;
  /** Unix timestamp in milliseconds */
  workflowCreatedAt: number;
  /** The delivery that failed */
  messageId: string;
  url: string;
  method: string;
  /** Header names in canonical form, each with its values */
  header: {
    [k: string]: string[];
  };
  /** The payload, when it is UTF-8 and not empty */
  body?: string;
  /** When the payload is not UTF-8 */
  bodyBase64?: string;
  maxRetries: number;
  /** Unix timestamp in milliseconds */
  createdAt: number;
  /** When its first delivery was due */
  notBefore: number;
  failureCallback?: string;
  failureFunctionState?:
    | "CALLBACK_INPROGRESS"
    | "CALLBACK_SUCCESS"
    | "CALLBACK_FAIL"
    | "CALLBACK_CANCELED";
  failureCallbackInfo?: {
    state: "CALLBACK_INPROGRESS" | "CALLBACK_SUCCESS" | "CALLBACK_FAIL" | "CALLBACK_CANCELED";
    responseStatus?: number;
    /** Header names in canonical form, each with its values */
    responseHeaders?: {
      [k: string]: string[];
    };
    responseBody?: string;
  };
  callerIP: string;
  /** The first label */
  label?: string;
  labels?: string[];
  flowControlKey?: string;
  /** 0 when there was no response */
  responseStatus: number;
  /** Why there was no response, or where the response redirects to */
  error?: string;
  /** Header names in canonical form, each with its values */
  responseHeader?: {
    [k: string]: string[];
  };
  /** When it is UTF-8 and not empty */
  responseBody?: string;
  /** When the response is not UTF-8 */
  responseBodyBase64?: string;
}
export interface DryRun {
  dryRun: true;
  /** How many items this call would process */
  matched: number;
  /** The cursor of the next page; absent on the last page */
  cursor?: string;
}
export interface Me {
  /** The id of the tenant */
  tenant: string;
  /** `full` may do everything; `read` reads everything except signing keys, and changes nothing; `operate` may also retry, pause, resume and cancel; `publish` may publish and start runs, and read nothing; `queue:NAME` may do the operations whose path names that queue, and no others */
  scope: string;
  plan: {
    /** Retries of a publish that does not set them */
    retriesDefault: number;
    retriesMax: number;
    delayMsMax: number;
    /** Timeout of a publish that does not set one */
    timeoutMsDefault: number;
    timeoutMsMax: number;
    bodyBytesMax: number;
    /** Bytes of a whole batch as it is sent */
    batchBytesMax: number;
    /** Bytes of a response that are kept */
    responseBytesMax: number;
    groupEndpointsMax: number;
    groupsMax: number;
    queuesMax: number;
    /** The highest parallelism of a queue */
    queueParallelismMax: number;
    schedulesMax: number;
    /** Calls at once; the highest value means no cap */
    parallelismMax: number;
    /** Messages in a day of UTC; the highest value means no quota */
    messagesPerDayMax: number;
    /** Lists in a second at each gateway; the highest value means no quota */
    listsPerSecondMax: number;
    /** How long the events of messages are kept */
    logMs: number;
    /** How long the bodies of ended messages are kept; at most as long as the log */
    keepBodiesMs: number;
    /** How long dead letters are kept */
    deadLetterMs: number;
    /** Messages that have not ended */
    backlogMax: number;
  };
}
export interface LogEntry {
  /** Unix timestamp in milliseconds */
  time: number;
  messageId: string;
  state:
    | "CREATED"
    | "ACTIVE"
    | "RETRY"
    | "ERROR"
    | "DELIVERED"
    | "FAILED"
    | "CANCEL_REQUESTED"
    | "CANCELED";
  /** Destination URL, as published */
  url: string;
  /** URL group, when sent to one */
  topicName?: string;
  endpointName?: string;
  method: string;
  callback?: string;
  failureCallback?: string;
  /** The first label */
  label?: string;
  labels?: string[];
  flowControlKey?: string;
  parallelism?: number;
  rate?: number;
  /** Seconds; present whenever there is a flow control key */
  period?: number;
  retryDelayExpression?: string;
  /** Milliseconds */
  timeout: number;
  maxRetries: number;
  queueName?: string;
  scheduleId?: string;
  /** llm, when sent to api/llm */
  api?: string;
  /** Present on a retry: the failed message, and its dead letter */
  retryOf?: {
    messageId: string;
    dlqId: string;
  };
  error?: string;
  /** Unix timestamp in milliseconds */
  nextDeliveryTime?: number;
  /** Header names in canonical form, each with its values */
  header: {
    [k: string]: string[];
  };
  /** Base64, while the message or its dead letter exists */
  body?: string;
  /** Header names in canonical form, each with its values */
  callbackHeaders?: {
    [k: string]: string[];
  };
  /** Header names in canonical form, each with its values */
  failureCallbackHeaders?: {
    [k: string]: string[];
  };
  /** The same as retryDelayExpression */
  retryDelayExpr?: string;
  callerIP: string;
  /** Status of the destination's answer, if one came */
  answerStatus?: number;
  /** Size of the received part of the answer's body */
  answerBytes?: number;
  /** On ERROR only, as are the other response fields */
  responseStatus?: number;
  /** Header names in canonical form, each with its values */
  responseHeaders?: {
    [k: string]: string[];
  };
  /** The same as responseHeaders */
  responseHeader?: {
    [k: string]: string[];
  };
  /** Base64 */
  responseBody?: string;
  /** The answer is incomplete: it broke off, or is longer than the kept part */
  truncated?: true;
  /** On FAILED only: the id of the dead letter, which may have been retried or removed since */
  dlqId?: string;
  /** On FAILED only: the id of the message that a retry of the dead letter makes */
  retryMessageId?: string;
}
export interface MinuteCounts {
  /** The first millisecond of the minute */
  time: number;
  counts: {
    CREATED?: number;
    ACTIVE?: number;
    RETRY?: number;
    ERROR?: number;
    DELIVERED?: number;
    FAILED?: number;
    CANCEL_REQUESTED?: number;
    CANCELED?: number;
  };
}
export interface Overview {
  /** The time of the server */
  time: number;
  /** Messages that have not ended; may lag by seconds */
  backlog: number;
  /** About since when the oldest of the first thousand due messages that are not under way has been waiting; absent if there is none */
  dueSince?: number;
  /** Dead letters of messages; counted to 10,000 */
  deadLetters: number;
}
export interface RestartedRun {
  workflowRunId: string;
  workflowCreatedAt: number;
}
export interface Run {
  workflowRunId: string;
  workflowUrl: string;
  workflowState: "RUN_STARTED" | "RUN_SUCCESS" | "RUN_FAILED" | "RUN_CANCELED";
  /** Unix timestamp in milliseconds */
  workflowRunCreatedAt: number;
  /** Unix timestamp in milliseconds */
  workflowRunCompletedAt?: number;
  /** In /v2/workflows/logs only */
  workflowRunCallerIp?: string;
  steps: {
    type: "sequential" | "parallel" | "next";
    steps: RunStep[];
  }[];
  workflowRunResponse?: string;
  invoker?: {
    workflowRunId: string;
    workflowUrl: string;
    /** Unix timestamp in milliseconds */
    workflowRunCreatedAt: number;
  };
  failureFunction?: {
    messageId: string;
    url: string;
    state: "CALLBACK_INPROGRESS" | "CALLBACK_SUCCESS" | "CALLBACK_FAIL" | "CALLBACK_CANCELED";
    /** Header names in canonical form, each with its values */
    failHeaders: {
      [k: string]: string[];
    };
    /** 0 when there was no response */
    failStatus: number;
    failResponse?: string;
    responseStatus?: number;
    /** Header names in canonical form, each with its values */
    responseHeaders?: {
      [k: string]: string[];
    };
    responseBody?: string;
    dlqId: string;
    maxRetries: number;
    /** Unix timestamp in milliseconds */
    nextDeliveryTime?: number;
    errors?: AttemptError[];
  };
  /** While the run is a dead letter */
  dlqId?: string;
  /** The first label */
  label?: string;
  labels?: string[];
  flowControlKey?: string;
}
export interface RunStep {
  /** Absent for the first step, which is the start */
  stepId?: number;
  /** Present for a member of a parallel group without a result */
  targetStep?: number;
  stepName?: string;
  stepType?: string;
  callType?: string;
  concurrent?: number;
  messageId?: string;
  /** Unix timestamp in milliseconds */
  createdAt?: number;
  state?: "STEP_PROGRESS" | "STEP_RETRY" | "STEP_SUCCESS" | "STEP_FAILED" | "STEP_CANCELED";
  /** The result of the step; for the first step, the payload */
  out?: string;
  /** Header names in canonical form, each with its values */
  headers?: {
    [k: string]: string[];
  };
  retries?: number;
  retryDelay?: string;
  /** Unix timestamp in milliseconds */
  nextDeliveryTime?: number;
  /** The latest failed attempts */
  errors?: AttemptError[];
  /** Seconds */
  sleepFor?: number;
  /** Unix timestamp, as the client sent it */
  sleepUntil?: number;
  callUrl?: string;
  callMethod?: string;
  callBody?: string;
  /** Header names in canonical form, each with its values */
  callHeaders?: {
    [k: string]: string[];
  };
  callResponseStatus?: number;
  callResponseBody?: string;
  /** Header names in canonical form, each with its values */
  callResponseHeaders?: {
    [k: string]: string[];
  };
  waitEventId?: string;
  waitTimeout?: boolean;
  /** Unix timestamp in milliseconds */
  waitTimeoutDeadline?: number;
  /** Seconds, followed by an s */
  waitTimeoutDuration?: string;
  invokedWorkflowRunId?: string;
  invokedWorkflowUrl?: string;
  /** Unix timestamp in milliseconds */
  invokedWorkflowCreatedAt?: number;
  /** The payload of the invoked run */
  invokedWorkflowRunBody?: string;
  /** Header names in canonical form, each with its values */
  invokedWorkflowRunHeaders?: {
    [k: string]: string[];
  };
}
export interface AttemptError {
  error: string;
  body?: string;
  /** Header names in canonical form, each with its values */
  headers: {
    [k: string]: string[];
  };
  /** 0 when there was no response */
  status: number;
  /** Unix timestamp in milliseconds */
  time: number;
}
export interface RunEvent {
  /** Unix timestamp in milliseconds */
  time: number;
  state:
    | "RUN_STARTED"
    | "RUN_SUCCESS"
    | "RUN_FAILED"
    | "RUN_CANCELED"
    | "STEP_PROGRESS"
    | "STEP_RETRY"
    | "STEP_SUCCESS"
    | "STEP_FAILED"
    | "STEP_CANCELED";
  workflowRunId: string;
  workflowUrl: string;
  /** Unix timestamp in milliseconds */
  workflowCreatedAt: number;
  stepInfo?: RunStep;
  /** Unix timestamp in milliseconds */
  nextDeliveryTime?: number;
  /** The error of the failed attempt, or of the run */
  error?: string;
  /** 0 when there was no response */
  responseStatus?: number;
  /** Header names in canonical form, each with its values */
  responseHeaders?: {
    [k: string]: string[];
  };
  responseBody?: string;
  invokerWorkflowRunId?: string;
  invokerWorkflowUrl?: string;
  /** Unix timestamp in milliseconds */
  invokerWorkflowCreatedAt?: number;
  workflowRunResponse?: string;
  /** While the run is a dead letter */
  dlqId?: string;
  /** The first label */
  label?: string;
  labels?: string[];
  flowControlKey?: string;
  callerIp: string;
}
export interface RunMessageEvent {
  /** Unix timestamp in milliseconds */
  time: number;
  state:
    | "RUN_STARTED"
    | "RUN_SUCCESS"
    | "RUN_FAILED"
    | "RUN_CANCELED"
    | "WAITER_ADDED"
    | "INVOKED"
    | "CREATED"
    | "ACTIVE"
    | "RETRY"
    | "ERROR"
    | "DELIVERED"
    | "FAILED"
    | "CANCEL_REQUESTED"
    | "CANCELED";
  workflowRunId: string;
  workflowUrl: string;
  /** Unix timestamp in milliseconds */
  workflowCreatedAt: number;
  stepInfo?: RunStep;
  /** Unix timestamp in milliseconds */
  nextDeliveryTime?: number;
  /** The error of the failed attempt, or of the run */
  error?: string;
  /** 0 when there was no response */
  responseStatus?: number;
  /** Header names in canonical form, each with its values */
  responseHeaders?: {
    [k: string]: string[];
  };
  responseBody?: string;
  invokerWorkflowRunId?: string;
  invokerWorkflowUrl?: string;
  /** Unix timestamp in milliseconds */
  invokerWorkflowCreatedAt?: number;
  workflowRunResponse?: string;
  /** While the run is a dead letter */
  dlqId?: string;
  /** The first label */
  label?: string;
  labels?: string[];
  flowControlKey?: string;
  callerIp: string;
  /** The headers of the message, on ERROR */
  headers?: {
    [k: string]: string[];
  };
}
export interface Schedule {
  scheduleId: string;
  /** As given, trimmed */
  cron: string;
  /** A URL, or the name of a URL group */
  destination: string;
  /** Unix timestamp in milliseconds */
  createdAt: number;
  method: string;
  callback?: string;
  failureCallback?: string;
  /** The first label */
  label?: string;
  labels?: string[];
  flowControlKey?: string;
  parallelism?: number;
  rate?: number;
  /** Seconds; present whenever there is a flow control key */
  period?: number;
  retryDelayExpression?: string;
  /** Milliseconds */
  timeout: number;
  retries: number;
  /** Header names in canonical form, each with its values */
  header: {
    [k: string]: string[];
  };
  /** When it is UTF-8 and not empty */
  body?: string;
  /** When the body is not UTF-8 */
  bodyBase64?: string;
  /** Seconds from each slot to its delivery */
  delay?: number;
  /** Header names in canonical form, each with its values */
  callbackHeader?: {
    [k: string]: string[];
  };
  /** Header names in canonical form, each with its values */
  failureCallbackHeader?: {
    [k: string]: string[];
  };
  callerIP: string;
  queueName?: string;
  isPaused: boolean;
  /** The last slot that fired */
  lastScheduleTime?: number;
  /** Absent while paused */
  nextScheduleTime?: number;
  /** The states of the messages of the last slot, at most 100, when a single schedule is read */
  lastScheduleStates?: {
    [k: string]: "IN_PROGRESS" | "SUCCESS" | "FAIL";
  };
  /** Why the last slot made no message */
  error?: string;
}
export interface SigningKeys {
  current: string;
  next: string;
}
export interface Waiter {
  url: string;
  /** Header names in canonical form, each with its values */
  headers: {
    [k: string]: string[];
  };
  /** Unix seconds */
  deadline: number;
  timeoutUrl?: string;
  timeoutBody?: string;
  /** Header names in canonical form, each with its values */
  timeoutHeaders?: {
    [k: string]: string[];
  };
}
export interface SearchIndex {
  /** The tenant that owns it */
  customer_id: string;
  id: string;
  name: string;
  endpoint: string;
  type: "free" | "payg" | "fixed";
  region: "eu-west-1" | "us-central1";
  /** Empty when there is none */
  partner_email: string;
  token: string;
  read_only_token: string;
  max_vector_count: number;
  /** -1: unlimited */
  max_monthly_reranks: number;
  /** -1: unlimited */
  max_daily_updates: number;
  /** -1: unlimited */
  max_daily_queries: number;
  /** -1: unlimited */
  max_monthly_bandwidth: number;
  max_writes_per_second: number;
  max_query_per_second: number;
  max_reads_per_request: number;
  max_writes_per_request: number;
  /** Unix timestamp in seconds */
  creation_time: number;
  input_enrichment_enabled: boolean;
  /** As reported, oldest first */
  throughput_vector: {
    /** The time of the sample */
    x: string;
    y: number;
  }[];
}
export interface Tenant {
  id: string;
  /** The family of headers of the tenant's messages if a publish uses none */
  dialect: "service" | "upstash";
  plan: {
    /** Retries of a publish that does not set them */
    retriesDefault: number;
    retriesMax: number;
    delayMsMax: number;
    /** Timeout of a publish that does not set one */
    timeoutMsDefault: number;
    timeoutMsMax: number;
    bodyBytesMax: number;
    /** Bytes of a whole batch as it is sent */
    batchBytesMax: number;
    /** Bytes of a response that are kept */
    responseBytesMax: number;
    groupEndpointsMax: number;
    groupsMax: number;
    queuesMax: number;
    /** The highest parallelism of a queue */
    queueParallelismMax: number;
    schedulesMax: number;
    /** Calls at once; the highest value means no cap */
    parallelismMax: number;
    /** Messages in a day of UTC; the highest value means no quota */
    messagesPerDayMax: number;
    /** Lists in a second at each gateway; the highest value means no quota */
    listsPerSecondMax: number;
    /** How long the events of messages are kept */
    logMs: number;
    /** How long the bodies of ended messages are kept; at most as long as the log */
    keepBodiesMs: number;
    /** How long dead letters are kept */
    deadLetterMs: number;
    /** Messages that have not ended */
    backlogMax: number;
  };
}
export interface Token {
  /** Names the token; not secret */
  id: string;
  /** `full` may do everything; `read` reads everything except signing keys, and changes nothing; `operate` may also retry, pause, resume and cancel; `publish` may publish and start runs, and read nothing; `queue:NAME` may do the operations whose path names that queue, and no others */
  scope: string;
  /** A name, given by the operator */
  name?: string;
  /** Unix timestamp in milliseconds */
  createdAt?: number;
  /** Unix timestamp in milliseconds from which the token is refused */
  expiresAt?: number;
  /** Unix timestamp in milliseconds, to about a minute; absent before the first use */
  lastUsedAt?: number;
}
export interface NewToken {
  /** Names the token; not secret */
  id: string;
  /** `full` may do everything; `read` reads everything except signing keys, and changes nothing; `operate` may also retry, pause, resume and cancel; `publish` may publish and start runs, and read nothing; `queue:NAME` may do the operations whose path names that queue, and no others */
  scope: string;
  /** A name, given by the operator */
  name?: string;
  /** Unix timestamp in milliseconds */
  createdAt?: number;
  /** Unix timestamp in milliseconds from which the token is refused */
  expiresAt?: number;
  /** Unix timestamp in milliseconds, to about a minute; absent before the first use */
  lastUsedAt?: number;
  /** Shown only once: only its hash is kept */
  token: string;
}
