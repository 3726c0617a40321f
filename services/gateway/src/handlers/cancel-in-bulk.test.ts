import { describe, expect, it } from "@jest/globals";
import { gatewayEndpoints } from "@posthaste/contract";
import { accept, defaultPlan, isFault } from "@posthaste/domain";
import { openEmbedded } from "@posthaste/embedded";
import { workOrDefer } from "@posthaste/engine";
import { type Tenant } from "@posthaste/ports";
import { aMessage, aPolicy, aTenant, type VirtualClock, sha256 } from "@posthaste/testing";
import { openInMemory } from "@posthaste/testing/in-memory";
import { type CancelParts, cancelHandlers } from "./cancel-in-bulk.ts";
import { aReadPermit } from "../reads.fixture.ts";

type Ports = CancelParts & { readonly clock: VirtualClock };

async function opened(messages: number): Promise<Ports> {
  const { store, ...parts } = openInMemory(openEmbedded);
  for (let n = 0; n < messages; n++) {
    const policy = aPolicy({ labels: ["a"] });
    const message = aMessage({
      id: store.ids.next(),
      now: parts.clock.now(),
      policy,
      delayMs: 600_000,
    });
    await store.records.insert([{ record: accept(message, parts.clock.now()) }], "new");
  }
  return { ...store, ...parts, sha256 };
}

const tenant: Tenant = {
  id: aTenant,
  dialect: "service",
  plan: defaultPlan,
  keys: { current: "", next: "" },
};

async function cancel(ports: Ports, search: string) {
  const query = gatewayEndpoints.cancelMessages.query.parse(search);
  if (isFault(query)) throw new Error(query.text);
  return cancelHandlers(ports).cancelMessages({
    param: () => "",
    query,
    body: undefined,
    tenant,
    scope: "full",
    callerIp: "127.0.0.1",
    rawHeaders: [],
    onGone: () => undefined,
    withPermit: (read) => read(aReadPermit),
  });
}

/** Begins an equal action by another caller, whose answer does not wait. */
async function begunElsewhere(ports: Ports) {
  await cancel(ports, "label=a&async=true");
  const [action] = await ports.bulkActions.list(aTenant, { limit: 1 });
  if (!action) throw new Error("there is an action");
  return action;
}

describe("a cancel by a filter that an equal one works already", () => {
  it("waits for the end of that one, and answers its count alone", async () => {
    const ports = await opened(3);
    const action = await begunElsewhere(ports);

    let answer: unknown;
    const answered = cancel(ports, "label=a").then((it) => (answer = it));
    await ports.clock.advance(5_000);
    expect(answer).toBeUndefined();
    await workOrDefer(ports, action, Infinity);
    await ports.clock.advance(1_000);
    await answered;

    expect(answer).toEqual({ status: 202, json: { cancelled: 3 } });
  });

  it("429 when that takes longer than a minute, with its name", async () => {
    const ports = await opened(3);
    const action = await begunElsewhere(ports);

    const answered = cancel(ports, "label=a");
    await ports.clock.advance(61_000);

    expect(await answered).toMatchObject({
      fault: "too_many_requests",
      text: expect.stringContaining(`0 messages are cancelled so far, bulk action ${action.id}`),
    });
  });

  it("with async answers it at once", async () => {
    const ports = await opened(3);
    const action = await begunElsewhere(ports);

    expect(await cancel(ports, "label=a&async=true")).toEqual({
      status: 202,
      json: { cancelled: 3, actionId: action.id },
    });
  });
});

describe("a cancel by a filter whose worker has lost it to another one", () => {
  it("waits for the end all the same", async () => {
    const ports = await opened(600);
    let moves = 0;
    // A scheduler takes the action after its first step.
    const move: Ports["bulkActions"]["move"] = async (action) =>
      ++moves === 2 ? false : ports.bulkActions.move(action);
    const losing = { ...ports, bulkActions: { ...ports.bulkActions, move } };

    let answer: unknown;
    const answered = cancel(losing, "label=a").then((it) => (answer = it));
    await ports.clock.advance(1_000);
    expect(answer).toBeUndefined();
    const [action] = await ports.bulkActions.list(aTenant, { limit: 1 });
    if (!action) throw new Error("there is an action");
    await workOrDefer(ports, action, Infinity);
    await ports.clock.advance(1_000);
    await answered;

    expect(answer).toMatchObject({ status: 202 });
  });
});
