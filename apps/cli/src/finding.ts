/** Finds a message, dead letter or run. Each of the three `show` commands takes any id that a listing prints. */
import { type Client, type DeadLetter, type LogEntry, type Run } from "@posthaste/client";
import { type MessageStory, storyOf } from "./message-story.ts";
import { unlessUnknown } from "./unless-unknown.ts";

export type Found =
  | { readonly kind: "message"; readonly story: MessageStory }
  | { readonly kind: "run"; readonly run: Run };

type Find = (client: Client, id: string) => Promise<Found | undefined>;

/** The bytes to show of each step's result and of each answer. Without a number the log leaves them out. */
const shownBytesMax = 4_096;
/** The number of events to read of a message, newest first. An attempt has three. */
const eventsMax = 1_000;

const findMessage: Find = async (client, id) => {
  const [record, events] = await Promise.all([
    unlessUnknown(client.messages.read(id)),
    eventsOf(client, { messageId: id }),
  ]);
  // A message of a run has no events; show its run instead.
  const ofRun = events.length === 0 ? await runBy("messageId")(client, id) : undefined;
  if (ofRun) return ofRun;
  // Soon after the end the body is with the dead letter, if there is one.
  const isLive = record !== undefined && events[0]?.state !== "FAILED";
  const letter = isLive ? undefined : await letterOf(client, id);
  const whole = letter ?? record ?? events[0];
  if (!whole) return undefined;
  const retriedAs = letter ? undefined : await retryOf(client, events);
  const story = storyOf(whole, events, record?.attempts);
  return { kind: "message", story: { ...story, ...(retriedAs !== undefined && { retriedAs }) } };
};

/** Returns the message that the retry of a dead letter made. */
async function retryOf(client: Client, events: readonly LogEntry[]): Promise<string | undefined> {
  const id = events.find((each) => each.retryMessageId !== undefined)?.retryMessageId;
  if (id === undefined) return undefined;
  const made = await client.log.events({ query: { messageId: id, count: 1, trimBody: 0 } });
  return made.events[0]?.messageId;
}

const findLetter: Find = async (client, id) => {
  const letter = await unlessUnknown(client.deadLetters.read(id));
  if (!letter) return findByPastLetter(client, id);
  const { messageId } = letter;
  const [record, events] = await Promise.all([
    unlessUnknown(client.messages.read(messageId)),
    eventsOf(client, { messageId }),
  ]);
  return { kind: "message", story: storyOf(letter, events, record?.attempts) };
};

/** Finds a retried or removed dead letter in the log: its id begins with the time of the event that names it. */
const findByPastLetter: Find = async (client, id) => {
  const at = /^(\d{10,16})-/.exec(id)?.[1];
  if (at === undefined) return undefined;
  const failed = await eventsOf(client, { state: "FAILED", fromDate: at, toDate: at });
  const messageId = failed.find(({ dlqId }) => dlqId === id)?.messageId;
  return messageId === undefined ? undefined : findMessage(client, messageId);
};

function runBy(name: "workflowRunId" | "messageId"): Find {
  return async (client, id) => {
    const query = { [name]: id, count: 1, trimBody: shownBytesMax };
    const run = (await client.runs.list({ query })).runs[0];
    return run && { kind: "run", run };
  };
}

const findRun = runBy("workflowRunId");

const findRunByLetter: Find = async (client, id) => {
  const failed = await unlessUnknown(client.failedRuns.read(id));
  return failed && findRun(client, failed.workflowRunId);
};

const finds = {
  message: [findMessage, findLetter, findRun, findRunByLetter],
  letter: [findLetter, findRunByLetter, findMessage, findRun],
  run: [findRun, findRunByLetter, findMessage, findLetter],
} as const satisfies Readonly<Record<string, readonly Find[]>>;

/** `first`: the kind that the command is about. A run's id is chosen by its caller, so it may look like any other. */
export async function findById(
  client: Client,
  id: string,
  first: keyof typeof finds,
): Promise<Found | undefined> {
  for (const find of finds[first]) {
    const found = await find(client, id);
    if (found) return found;
  }
  return undefined;
}

async function eventsOf(
  client: Client,
  query: Readonly<Record<string, string>>,
): Promise<readonly LogEntry[]> {
  const asked = { ...query, count: eventsMax, trimBody: shownBytesMax };
  return (await client.log.events({ query: asked })).events;
}

async function letterOf(client: Client, messageId: string): Promise<DeadLetter | undefined> {
  const query = { messageId, order: "latestFirst", count: 1 } as const;
  const page = await client.deadLetters.list({ query });
  return page.messages.find((each): each is DeadLetter => "messageId" in each);
}
