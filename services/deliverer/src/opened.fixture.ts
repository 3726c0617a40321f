/** A deliverer over the embedded adapters, in memory, with a sender whose calls the test answers. */
import { createHash } from "node:crypto";
import { afterEach } from "@jest/globals";
import {
  accept,
  defaultPlan,
  type InState,
  type Message,
  type MessageId,
  type MessageRecord,
  type Outcome,
  owner,
  type Plan,
  type Sha256Hex,
  type TenantId,
} from "@posthaste/domain";
import { type EmbeddedOptions, openEmbedded } from "@posthaste/embedded";
import { hintOf } from "@posthaste/engine";
import { retryDelays } from "@posthaste/retry-delays-mathjs";
import {
  type Groups,
  type Ids,
  type MessageLog,
  noTelemetry,
  type OutgoingRequest,
  type RecordPorts,
  type Records,
  type Schedules,
  type Sender,
  StoreError,
  type Tenant,
  type WakeEvent,
} from "@posthaste/ports";
import {
  aMessage,
  anAnswer,
  aTenant,
  type MessageOverrides,
  type RecordingLog,
  recordingLog,
  seededRandom,
  type VirtualClock,
  virtualClock,
  withOwnTimers,
} from "@posthaste/testing";
import { Acceptance } from "./attempts/acceptance.ts";
import { Attempts } from "./attempts/attempts.ts";
import { Deliverer, type DelivererOptions } from "./deliverer.ts";
import { Lines } from "./lines/lines.ts";
import { type SharedParts } from "./parts.ts";
import { type DelivererPorts } from "./ports.ts";
import { type Freed, Permits } from "./permits/permits.ts";

export type Ports = DelivererPorts &
  RecordPorts & {
    readonly messageLog: MessageLog;
    readonly groups: Groups;
    readonly schedules: Schedules;
    readonly ids: Ids;
    readonly clock: VirtualClock;
    readonly log: RecordingLog;
    readonly newId: () => MessageId;
    readonly calls: readonly Call[];
  };

export type Call = {
  readonly url: string;
  readonly body: string;
  readonly aborted: boolean;
  /** How often `forget` was called for its answer. */
  readonly forgotten: number;
  readonly answer: (outcome: Outcome) => void;
};

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** Opens the ports. `respond` answers each call at once; without it calls wait for the test. */
export function open(
  respond?: (request: OutgoingRequest) => Outcome,
  options: Pick<EmbeddedOptions, "sync"> = {},
): Ports {
  const clock = virtualClock();
  const log = recordingLog();
  const random = seededRandom(1);
  const embedded = openEmbedded({
    dataDir: ":memory:",
    clock,
    random,
    log,
    // Commits come in the turn that asked for them, so no time passes until all effects of a step have happened.
    schedule: queueMicrotask,
    ...options,
  });
  closers.push(embedded.close);
  const { bus, deadLetters, groups, ids, messageLog, schedules, tokens } = embedded;
  const { alarms, bulkActions, fanOuts, flowLanes, keptBodies, queues, records } = embedded;
  const { runs, runLog } = embedded;
  const sha256: Sha256Hex = (value) => createHash("sha256").update(value).digest("hex");
  const { calls, sender } = aSender(respond);
  const newId = (): MessageId => ids.next();
  const own = withOwnTimers(clock);
  const ports = { bus, clock: own, deadLetters, groups, ids, log, messageLog, random, schedules };
  const stored = {
    ...{ alarms, bulkActions, fanOuts, flowLanes, keptBodies },
    ...{ queues, records, runs, runLog },
  };
  const made = { newId, calls, sender, retryDelays: retryDelays(), tenants: tenantsWith() };
  return { ...ports, ...stored, ...made, sha256, tokens };
}

/** Returns tenants that have any tenant asked for, with the default plan and these limits. */
export function tenantsWith(limits: Partial<Plan> = {}, only?: TenantId): Ports["tenants"] {
  const get = (id: TenantId): Tenant => ({
    ...{ id, dialect: "service", keys: { current: "", next: "" } },
    plan: only === undefined || id === only ? { ...defaultPlan, ...limits } : defaultPlan,
  });
  return { get, find: async (id) => get(id) };
}

function aSender(respond: ((request: OutgoingRequest) => Outcome) | undefined): {
  sender: Sender;
  calls: readonly Call[];
} {
  const calls: Call[] = [];
  const send: Sender["send"] = (request) => {
    const { promise: outcome, resolve } = Promise.withResolvers<Outcome>();
    let aborted = false;
    let forgotten = 0;
    const body = new TextDecoder().decode(request.body);
    calls.push({
      url: request.url,
      body,
      answer: resolve,
      get aborted() {
        return aborted;
      },
      get forgotten() {
        return forgotten;
      },
    });
    if (respond) resolve(respond(request));
    const abort = (): void => {
      aborted = true;
      resolve({ kind: "aborted" });
    };
    return { outcome, abort, forget: () => void ++forgotten, address: serverOf(request.url) };
  };
  return { calls, sender: { send, close: async () => undefined } };
}

/** URLs that differ only in a number have one server. */
const serverOf = (url: string): string => new URL(url).hostname.replace(/-\d+/, "");

export const drainMs = 20_000;

/** Sends the message as it is, without signature and service headers. */
const compose: DelivererOptions["compose"] = ({ message }) => ({
  tenant: message.tenant,
  url: message.url,
  method: message.method,
  headers: message.headers,
  body: message.body,
  timeoutMs: message.policy.timeoutMs,
  responseBytesMax: 1_024,
});

const roomy = { shortMax: 100, perOriginMax: 100, waitingMax: 50 };

const ignore = (): void => undefined;

/** Returns permits without a deliverer: nothing hears of permits given back. */
export function permitsOver(
  ports: Ports,
  lines: Freed = { goOn: ignore, unblock: ignore, unblockHeavy: ignore },
  slots: DelivererOptions["slots"] = { shortMax: 6, perOriginMax: 4, waitingMax: 3 },
): Permits {
  return new Permits(ports, { slots, bodyBytesMax: 8 * 1024 * 1024 }, lines);
}

/** Returns the parts that the rest of a deliverer shares, over these ports. */
export function wired(ports: Ports): SharedParts {
  const telemetry = noTelemetry;
  const lines = new Lines(() => undefined);
  const permits = permitsOver(ports, lines);
  const attempts = new Attempts(ports.bus, lines, permits);
  const acceptance = new Acceptance(ports, telemetry.tracer);
  return { owner: owner("here"), telemetry, lines, permits, attempts, acceptance };
}

export async function startDeliverer(
  ports: DelivererPorts,
  slots: Partial<DelivererOptions["slots"]> = {},
  options: Partial<DelivererOptions> = {},
): Promise<Deliverer> {
  const deliverer = new Deliverer(ports, {
    owner: owner("here"),
    slots: { ...roomy, ...slots },
    bodyBytesMax: 64 * 1024 * 1024,
    inlineHistoryBytesMax: 3 * 1024 * 1024,
    compose,
    drainMs,
    ...options,
  });
  await deliverer.start();
  return deliverer;
}

/** Returns fields whose body is the name of the message, so that a call tells which message it is for. */
export const named = (name: string): { readonly body: Uint8Array } => ({
  body: new TextEncoder().encode(name),
});

export async function insert(ports: Ports, overrides: MessageOverrides = {}): Promise<Message> {
  const message = aMessage({ id: ports.newId(), now: ports.clock.now(), ...overrides });
  await ports.records.insert([{ record: accept(message, ports.clock.now()) }], "new");
  return message;
}

/** Hints that these messages are due, all at once, and waits for the effects. */
export async function hint(ports: Ports, messages: readonly Message[]): Promise<void> {
  const hints = messages.map((message) => hintOf(accept(message, ports.clock.now())));
  await ports.bus.publish("message.due", hints);
  await rest(ports);
}

/** Accepts messages of these names and hints that they are due. */
export async function publish(
  ports: Ports,
  names: readonly string[],
  overrides: MessageOverrides = {},
): Promise<readonly Message[]> {
  const messages: Message[] = [];
  for (const name of names) messages.push(await insert(ports, { ...named(name), ...overrides }));
  await hint(ports, messages);
  return messages;
}

/** Waits until everything has happened that can happen without time passing. */
export const rest = ({ clock }: { readonly clock: VirtualClock }): Promise<void> =>
  clock.advance(0);

export async function read(
  { records }: Pick<Ports, "records">,
  { id, tenant }: Pick<Message, "id" | "tenant">,
): Promise<MessageRecord> {
  const [record] = await records.get(tenant, [id]);
  if (!record) throw new Error(`${id} is not there`);
  return record;
}

export const called = ({ calls }: Ports): readonly string[] => calls.map(({ body }) => body);

export function callOf({ calls }: Ports, name: string): Call {
  const call = calls.findLast(({ body }) => body === name);
  if (!call) throw new Error(`${name} was not called`);
  return call;
}

/** Inserts a message that was claimed this many times by processes that died. */
export async function insertLost(
  ports: Ports,
  name: string,
  losses: number,
  overrides: MessageOverrides = {},
): Promise<InState<"claimed">> {
  const message = await insert(ports, { ...named(name), ...overrides });
  let claimed: InState<"claimed"> | undefined;
  for (let claims = 0; claims < losses; claims++) {
    [claimed] = await ports.records.claim([message.id], owner("dead"));
    await ports.clock.advance(30_000);
  }
  if (!claimed) throw new Error(`${name} could not be claimed`);
  return claimed;
}

export const page = { limit: 100, order: "earliestFirst" } as const;

export async function deadLettersOf({ deadLetters }: Pick<Ports, "deadLetters">) {
  const { items } = await deadLetters.list(aTenant, {}, page);
  return items;
}

export const withRecords = (ports: Ports, records: Partial<Records>): Ports => ({
  ...ports,
  records: { ...ports.records, ...records },
});

export async function stateOf(ports: Ports, message: Message): Promise<string> {
  const { state } = await read(ports, message);
  return state.kind;
}

export const ok = anAnswer(200);
export const elsewhere = "https://elsewhere.example/hook";
export const away = new StoreError("unavailable", "the store is away");

export async function answer(ports: Ports, name: string, outcome: Outcome = ok): Promise<void> {
  callOf(ports, name).answer(outcome);
  await rest(ports);
}

export async function wakesOf({ bus }: Ports): Promise<readonly WakeEvent[]> {
  const wakes: WakeEvent[] = [];
  await bus.subscribe("scheduler.wake", "test", async (events) => void wakes.push(...events));
  return wakes;
}
