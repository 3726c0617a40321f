/**
 * Calls each method of the JavaScript client against a server.
 *
 * Environment: QSTASH_URL, QSTASH_TOKEN, DESTINATION (a URL to which a path can be added; /js/broken answers 404). Prints one
 * line of JSON for each method: {"method": "queue.get", "error": null or a text}. A method of the client that no journey
 * calls has the error "not called".
 */
import { Client } from "@upstash/qstash";
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";

const patienceMs = 60_000;
const farCron = "0 0 1 1 *";
const destination = process.env["DESTINATION"] ?? "";
const url = (path: string): string => `${destination}/js${path}`;

const client = new Client({
  baseUrl: process.env["QSTASH_URL"] ?? "",
  token: process.env["QSTASH_TOKEN"] ?? "",
  retry: false,
});
const queue = client.queue({ queueName: "js-queue" });
const apis = {
  client,
  messages: client.messages,
  urlGroups: client.urlGroups,
  schedules: client.schedules,
  dlq: client.dlq,
  flowControl: client.flowControl,
  queue,
};
/** `queue` leads to an API. The model behind `chat` is another service's, and `events` is an older name of `logs`. */
const leftOut: ReadonlySet<string> = new Set(["constructor", "queue", "chat"]);

const errors = new Map<string, string | null>();
for (const [api, object] of Object.entries(apis)) {
  for (const name of methodsOf(object)) errors.set(`${api}.${name}`, "not called");
}

function methodsOf(object: object): string[] {
  const names: string[] = Object.entries(object)
    .filter(([, value]) => typeof value === "function")
    .map(([name]) => name);
  const prototype = Object.getPrototypeOf(object) as object;
  for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(prototype)))
    if (typeof value === "function") names.push(name);
  return names.filter((name) => !leftOut.has(name));
}

/** Records a failed call or a wrong answer as the method's error, which a later success does not clear. */
async function call<T>(
  method: string,
  ask: () => Promise<T>,
  check: (found: T) => void = () => {},
): Promise<T> {
  try {
    const found = await ask();
    check(found);
    if (errors.get(method) === "not called" || !errors.has(method)) errors.set(method, null);
    return found;
  } catch (error) {
    errors.set(method, String(error));
    throw error;
  }
}

async function eventually<T>(
  method: string,
  ask: () => Promise<T>,
  isSo: (found: T) => boolean,
): Promise<T> {
  for (const until = Date.now() + patienceMs; ; await sleep(100)) {
    const found = await call(method, ask);
    if (isSo(found) || Date.now() > until)
      return call(
        method,
        async () => found,
        (last) => assert.ok(isSo(last), JSON.stringify(last)),
      );
  }
}

const idOf = (published: unknown): string => (published as { messageId: string }).messageId;

async function messages(): Promise<void> {
  const once = {
    url: url("/publish"),
    body: "a text",
    retries: 2,
    deduplicationId: "js-once",
  } as const;
  const first = await call("client.publish", () =>
    client.publish({ ...once, label: "a-label", timeout: 30 }),
  );
  await call(
    "client.publish",
    () => client.publish(once),
    (again) => {
      assert.deepEqual(
        [idOf(again), (again as { deduplicated?: boolean }).deduplicated],
        [idOf(first), true],
      );
    },
  );
  const callback = url("/callback");
  await call("client.publishJSON", () =>
    client.publishJSON({ url: url("/publish-json"), body: { n: 1 }, callback }),
  );

  const later = () =>
    client.publish({ url: url("/never"), body: "later", delay: 3_600, retries: 5 });
  const id = idOf(await call("client.publish", later));
  await call(
    "messages.get",
    () => client.messages.get(id),
    (found) => {
      assert.deepEqual([found.url, found.body, found.maxRetries], [url("/never"), "later", 5]);
    },
  );
  await call("messages.cancel", () => client.messages.cancel(id));
  const other = idOf(await call("client.publish", later));

  await call("messages.delete", () => client.messages.delete(other));
}

async function batches(): Promise<void> {
  const items = [
    { url: url("/batch"), body: "one" },
    { url: url("/batch-queued"), body: "two", queueName: "js-batch" },
  ];
  await call(
    "client.batch",
    () => client.batch(items),
    (answers) => {
      assert.equal(answers.length, 2);
    },
  );
  const numbered = [1, 2, 3].map((n) => ({ url: url("/batch-json"), body: { n } }));
  await call(
    "client.batchJSON",
    () => client.batchJSON(numbered),
    (answers) => {
      assert.equal(new Set(answers.map(idOf)).size, 3);
    },
  );
}

async function queues(): Promise<void> {
  await call("queue.upsert", () => queue.upsert({ parallelism: 2 }));
  await call("queue.pause", () => queue.pause());
  await call("queue.enqueue", () => queue.enqueue({ url: url("/enqueue"), body: "first" }));
  await call("queue.enqueueJSON", () =>
    queue.enqueueJSON({ url: url("/enqueue-json"), body: { n: 2 } }),
  );
  await call(
    "queue.get",
    () => queue.get(),
    ({ name, parallelism, paused, lag }) => {
      assert.deepEqual([name, parallelism, paused, lag], ["js-queue", 2, true, 2]);
    },
  );
  await call(
    "queue.list",
    () => queue.list(),
    (every) => {
      assert.ok(every.some(({ name }) => name === "js-queue"));
    },
  );
  await call("queue.resume", () => queue.resume());
  await eventually(
    "queue.get",
    () => queue.get(),
    ({ lag }) => lag === 0,
  );
  await call("queue.delete", () => queue.delete());
}

async function schedules(): Promise<void> {
  const api = client.schedules;
  const schedule = { destination: url("/cron"), cron: farCron, body: "tick", retries: 1 };
  const { scheduleId } = await call("schedules.create", () => api.create(schedule));
  const named = { ...schedule, scheduleId: "js-daily" };
  await call(
    "schedules.create",
    () => api.create(named),
    (made) => {
      assert.equal(made.scheduleId, "js-daily");
    },
  );
  const get = (isPaused: boolean) =>
    call(
      "schedules.get",
      () => api.get(scheduleId),
      (found) => {
        assert.deepEqual(
          [found.cron, found.destination, found.isPaused ?? false],
          [farCron, url("/cron"), isPaused],
        );
      },
    );
  await get(false);
  await call(
    "schedules.list",
    () => api.list(),
    (every) => {
      assert.ok(every.length >= 2);
    },
  );
  await call("schedules.pause", () => api.pause({ schedule: scheduleId }));
  await get(true);
  await call("schedules.resume", () => api.resume({ schedule: scheduleId }));
  await get(false);
  await call("schedules.delete", () => api.delete(scheduleId));
  await call("schedules.delete", () => api.delete("js-daily"));
}

async function groups(): Promise<void> {
  const api = client.urlGroups;
  const name = "js-group";
  const endpoints = [{ name: "one", url: url("/group-1") }, { url: url("/group-2") }];
  await call("urlGroups.addEndpoints", () => api.addEndpoints({ name, endpoints }));
  await call(
    "urlGroups.get",
    () => api.get(name),
    (found) => {
      assert.deepEqual(found.endpoints, endpoints);
    },
  );
  await call(
    "urlGroups.list",
    () => api.list(),
    (every) => {
      assert.ok(every.some((group) => group.name === name));
    },
  );
  await call("client.publish", () => client.publish({ urlGroup: name, body: "to both" }));
  await call("urlGroups.removeEndpoints", () =>
    api.removeEndpoints({ name, endpoints: [{ name: "one" }] }),
  );
  await call("urlGroups.delete", () => api.delete(name));
}

async function deadLetters(): Promise<void> {
  const ids: string[] = [];
  for (let n = 0; n < 5; n++) {
    const messageId = idOf(
      await call("client.publish", () => client.publish({ url: url("/broken"), retries: 0 })),
    );
    const list = () => client.dlq.listMessages({ filter: { messageId }, count: 10 });
    const { messages: found } = await eventually(
      "dlq.listMessages",
      list,
      (page) => page.messages.length === 1,
    );
    assert.deepEqual([found[0]?.responseStatus, found[0]?.responseBody], [404, "none"]);
    ids.push(found[0]?.dlqId ?? "");
  }
  const [first = "", second = "", ...others] = ids;
  await call(
    "dlq.retry",
    () => client.dlq.retry([first]),
    ({ responses }) => {
      assert.equal(responses.length, 1);
    },
  );
  await call("dlq.delete", () => client.dlq.delete(second));

  await call(
    "dlq.deleteMany",
    () => client.dlq.deleteMany({ dlqIds: others }),
    ({ deleted }) => {
      assert.equal(deleted, others.length);
    },
  );
}

async function logs(): Promise<void> {
  const messageId = idOf(
    await call("client.publish", () => client.publish({ url: url("/logged"), body: "x" })),
  );
  const filter = { messageId, url: url("/logged") };
  await eventually(
    "client.logs",
    () => client.logs({ filter, count: 10 }),
    (page) => page.logs.some(({ state }) => state === "DELIVERED"),
  );

  await call(
    "client.events",
    () => client.events({ filter, count: 10 }),
    ({ events }) => {
      assert.ok(events.length > 0);
    },
  );
}

async function flowControl(): Promise<void> {
  const api = client.flowControl;
  const key = "js-flow";
  const limits = { key, parallelism: 3, rate: 10, period: "1m" } as const;
  await call("client.publish", () =>
    client.publish({ url: url("/flow"), body: "x", flowControl: limits }),
  );
  await call(
    "flowControl.get",
    () => api.get(key),
    (found) => {
      assert.deepEqual([found.parallelismMax, found.rateMax, found.ratePeriod], [3, 10, 60]);
    },
  );
  await call("flowControl.pause", () => api.pause(key));
  await call(
    "flowControl.get",
    () => api.get(key),
    ({ isPaused }) => {
      assert.equal(isPaused, true);
    },
  );
  await call("flowControl.resume", () => api.resume(key));
  await call("flowControl.pin", () => api.pin(key, { parallelism: 5, rate: 20, period: 30 }));
  await call(
    "flowControl.get",
    () => api.get(key),
    (found) => {
      assert.deepEqual([found.parallelismMax, found.isPinnedParallelism], [5, true]);
    },
  );
  await call("flowControl.unpin", () => api.unpin(key, { parallelism: true, rate: true }));
  await call("flowControl.resetRate", () => api.resetRate(key));
  await call(
    "flowControl.getGlobalParallelism",
    () => api.getGlobalParallelism(),
    (found) => {
      assert.ok((found.parallelismMax ?? 0) > 0);
    },
  );
}

async function canceling(): Promise<void> {
  const held = (label = "held") =>
    call("client.publish", () => client.publish({ url: url("/never"), delay: 3_600, label }));
  const ids = [idOf(await held()), idOf(await held()), idOf(await held())];
  for (const label of ["b", "b", "b"]) await held(label);
  const canceled = (asked: Parameters<typeof client.messages.cancel>[0], count: number) =>
    call(
      "messages.cancel",
      () => client.messages.cancel(asked),
      (found) => {
        assert.deepEqual(found, { cancelled: count });
      },
    );
  await canceled([...ids.slice(0, 1), "msg_unknown"], 1);
  await canceled({ filter: { label: "b" }, count: 1 }, 1);
  await canceled({ filter: { label: "b" } }, 2);

  await call("messages.deleteMany", () => client.messages.deleteMany(ids.slice(1, 2)));

  await call("messages.deleteAll", () => client.messages.deleteAll());
}

const journeys = [
  messages,
  batches,
  queues,
  schedules,
  groups,
  deadLetters,
  logs,
  flowControl,
  canceling,
];
// A failure is the error of a method and ends its journey.
for (const journey of journeys) await journey().catch(() => undefined);
for (const [method, error] of [...errors].toSorted(([one], [other]) => (one < other ? -1 : 1)))
  console.log(JSON.stringify({ method, error }));
