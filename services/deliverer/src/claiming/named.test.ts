/** Messages whose inserts claimed them for this deliverer, over the embedded store. */
import { describe, expect, it } from "@jest/globals";
import {
  acceptNamed,
  type InState,
  limits,
  type Message,
  type Outcome,
  owner,
  type Owner,
  ownFormat,
} from "@posthaste/domain";
import { hintOf } from "@posthaste/engine";
import {
  noTelemetry,
  pause,
  type Records,
  type Telemetry,
  type TraceParent,
} from "@posthaste/ports";
import { aMessage, type MessageOverrides } from "@posthaste/testing";
import { type Attempt } from "../attempts/attempt.ts";
import { Named } from "./named.ts";
import {
  answer,
  away,
  called,
  callOf,
  elsewhere,
  hint,
  insert,
  named,
  ok,
  open,
  type Ports,
  publish,
  read,
  rest,
  startDeliverer,
  stateOf,
  tenantsWith,
  wired,
  withRecords,
} from "../opened.fixture.ts";

const [here, another] = [owner("here"), owner("another")];

async function insertNamed(
  ports: Ports,
  name: string,
  by: Owner = here,
  overrides: MessageOverrides = {},
): Promise<InState<"claimed">> {
  const now = ports.clock.now();
  const message = aMessage({ id: ports.newId(), now, ...named(name), ...overrides });
  const record = acceptNamed(message, by, now);
  await ports.records.insert([{ record }], "new");
  return record;
}

async function tell(ports: Ports, ...records: readonly InState<"claimed">[]): Promise<void> {
  const hints = records.map((record) => ({ ...hintOf(record), record }));
  await ports.bus.publish("message.due", hints);
  await rest(ports);
}

/** Inserts a message for this deliverer, and tells it. */
const tellNamed: typeof insertNamed = async (ports, ...given) => {
  const record = await insertNamed(ports, ...given);
  await tell(ports, record);
  return record;
};

describe("a message that was claimed by its insert for this deliverer", () => {
  it("is called and settled without a claim", async () => {
    const ports = open();
    let claims = 0;
    const claim: Records["claim"] = (...given) => {
      claims += 1;
      return ports.records.claim(...given);
    };
    await startDeliverer(withRecords(ports, { claim }));
    const record = await tellNamed(ports, "a");
    await answer(ports, "a");

    expect(called(ports)).toEqual(["a"]);
    expect(await stateOf(ports, record.message)).toBe("delivered");
    expect(claims).toBe(0);
  });

  it("runs once for any number of hints, also after its end", async () => {
    const ports = open();
    await startDeliverer(ports);
    const record = await insertNamed(ports, "a");
    await tell(ports, record, record);
    await tell(ports, record);
    await answer(ports, "a");
    await tell(ports, record);

    expect(called(ports)).toEqual(["a"]);
  });

  it("waits here for a slot, and keeps its claim as long as that takes", async () => {
    const ports = open();
    await startDeliverer(ports, { shortMax: 1, waitingMax: 0 });
    const records = [await insertNamed(ports, "a"), await insertNamed(ports, "b")];
    await tell(ports, ...records);
    await ports.clock.advance(2 * limits.leaseMs);
    expect(called(ports)).toEqual(["a"]);

    await answer(ports, "a");
    await answer(ports, "b");

    expect(called(ports)).toEqual(["a", "b"]);
    for (const { message } of records) expect(await stateOf(ports, message)).toBe("delivered");
  });

  it("is given back when it is heard near the end of its lease, and any deliverer may claim it at once", async () => {
    const ports = open();
    await startDeliverer(ports);
    const record = await insertNamed(ports, "a");
    await ports.clock.advance(limits.namedLeaseMs - limits.leaseSafetyMs);
    await tell(ports, record, record);

    expect(called(ports)).toEqual([]);
    expect(await read(ports, record.message)).toMatchObject({
      state: { kind: "held", dueAt: ports.clock.now() },
    });
  });

  it("is claimed at once when it is heard after the end of its lease", async () => {
    const ports = open();
    await startDeliverer(ports);
    const record = await insertNamed(ports, "a");
    await ports.clock.advance(limits.namedLeaseMs);
    await tell(ports, record);
    await ports.clock.advance(1);

    expect(called(ports)).toEqual(["a"]);
  });

  it.each([0, 1_900, 2_100, 3_500, 4_000, 4_500, 4_900])(
    "is called once, to its end, when it is heard after %s ms and its call takes three seconds",
    async (lateMs) => {
      const ports = open();
      await startDeliverer(ports);
      const record = await insertNamed(ports, "a");
      await ports.clock.advance(lateMs);
      await tell(ports, record);
      await ports.clock.advance(3_000);
      await answer(ports, "a");
      await ports.clock.advance(limits.leaseMs);

      expect(called(ports)).toEqual(["a"]);
      expect(callOf(ports, "a").aborted).toBe(false);
      expect(await read(ports, record.message)).toMatchObject({
        state: { kind: "delivered" },
        epoch: 1,
      });
    },
  );

  it("is not called at all when it was cancelled more than two seconds after its insert", async () => {
    const ports = open();
    await startDeliverer(ports);
    const { message, ...rest } = await insertNamed(ports, "a");
    await ports.clock.advance(2_100);
    await ports.records.cancel(message.tenant, [message.id]);
    await tell(ports, { message, ...rest });
    await ports.clock.advance(limits.leaseMs);

    expect(called(ports)).toEqual([]);
  });

  it("is given back when its lease is old and the store does not confirm it", async () => {
    const opened = open();
    const ports = withRecords(opened, { renew: () => Promise.reject(away) });
    await startDeliverer(ports);
    const { message, ...rest } = await insertNamed(ports, "a");
    await ports.clock.advance(4_000);
    await tell(ports, { message, ...rest });

    expect(called(ports)).toEqual([]);
    expect(await read(ports, message)).toMatchObject({ state: { kind: "held" }, retried: 0 });
  });

  it.each([
    { proof: "answers", becomes: "is called" },
    { proof: "fails", becomes: "goes back at once" },
  ])(
    "$becomes when its slot comes while a slow renewal holds its claim, and the one before its call $proof",
    async ({ proof }) => {
      const opened = open();
      const renew: Records["renew"] = async (claims) => {
        const isProof = claims.some(({ begins }) => begins);
        if (isProof && proof === "fails") throw away;
        const lost = await opened.records.renew(claims);
        if (!isProof) await pause(opened.clock, 8_000);
        return lost;
      };
      const ports = withRecords(opened, { renew });
      await startDeliverer(ports, { shortMax: 1, waitingMax: 0 });
      await publish(ports, ["before"]);
      const record = await tellNamed(ports, "a");
      await ports.clock.advance(6_000);
      await answer(ports, "before");

      if (proof === "answers") expect(called(ports)).toEqual(["before", "a"]);
      else expect(await stateOf(ports, record.message)).toBe("held");
    },
  );

  it("has a lease of the usual length from its first renewal on, which a store may answer three seconds late", async () => {
    const opened = open();
    let renewals = 0;
    const renew: Records["renew"] = async (claims) => {
      if (++renewals > 1) throw away;
      await pause(opened.clock, 3_000);
      return opened.records.renew(claims);
    };
    const ports = withRecords(opened, { renew });
    await startDeliverer(ports);
    const record = await tellNamed(ports, "a");

    await ports.clock.advance(25_000);
    expect(callOf(ports, "a").aborted).toBe(false);
    expect(await ports.records.claim([record.message.id], another)).toEqual([]);
    await ports.clock.advance(1_250);

    expect(callOf(ports, "a").aborted).toBe(true);
  });

  it("is given back where its tenant's calls are capped, to be claimed within the cap", async () => {
    const ports = open();
    await startDeliverer({ ...ports, tenants: tenantsWith({ parallelismMax: 1 }) });
    const record = await tellNamed(ports, "a");

    const { state, leaseLosses } = await read(ports, record.message);
    expect(state.kind).toBe("held");
    expect(leaseLosses).toBeLessThanOrEqual(0);
  });

  it("waits in line with hints of its origin, and delays none of them", async () => {
    const ports = open();
    await startDeliverer(ports, { perOriginMax: 1 });
    await tellNamed(ports, "running");
    await hint(ports, [await insert(ports, named("hinted"))]);
    for (let n = 0; n < 20; n++) await tellNamed(ports, `${n}`);

    await answer(ports, "running");

    expect(called(ports)).toEqual(["running", "hinted"]);
  });

  it("takes no slot that a hint of another origin waits for, whatever the number of named messages", async () => {
    const ports = open();
    await startDeliverer(ports, { shortMax: 1, waitingMax: 0 });
    await tellNamed(ports, "0");
    await hint(ports, [await insert(ports, { ...named("hinted"), url: elsewhere })]);
    for (let n = 1; n < 10; n++) {
      await tellNamed(ports, `${n}`);
      await answer(ports, `${n - 1}`);
      if (called(ports).includes("hinted")) break;
    }

    expect(called(ports).length).toBeLessThanOrEqual(3);
    expect(called(ports)).toContain("hinted");
  });

  it("waits for the bytes of a heavy body, within the shares of its origin and tenant", async () => {
    const ports = open();
    const heavy = { body: new Uint8Array(60 * 1024) };
    await startDeliverer(ports, {}, { bodyBytesMax: 240 * 1024 });
    const records = [];
    for (let n = 0; n < 6; n++) records.push(await insertNamed(ports, "", here, heavy));
    await tell(ports, ...records);
    expect(ports.calls).toHaveLength(2);

    for (let n = 0; n < 6; n++) {
      ports.calls[n]?.answer(ok);
      await rest(ports);
    }

    expect(ports.calls).toHaveLength(6);
  });

  it.each([
    ["5,000 of one destination", 5_200, 5_000, {}],
    ["5,000", 5_200, 5_000, { spread: true }],
    ["32 MiB with their headers", 600, 524, { headers: [["x", "h".repeat(62 * 1024)]] }],
  ] as const)(
    "goes back beyond %s that wait, and any deliverer may claim it",
    async (_, told, kept, { headers = [], spread = false }: Flood) => {
      const ports = open();
      await startDeliverer(ports, { shortMax: 1, waitingMax: 0 });
      await hint(ports, [await insert(ports, named("running"))]);
      const messages: Message[] = [];
      for (let n = 0; n < told; n++) {
        const url = spread ? `https://host-${n % 4}.example/` : elsewhere;
        const record = await insertNamed(ports, "x", here, { headers, url });
        messages.push(record.message);
        await ports.bus.publish("message.due", [{ ...hintOf(record), record }]);
      }
      await rest(ports);

      const states = [];
      for (const message of messages) states.push(await stateOf(ports, message));
      const claimed = states.filter((state) => state === "claimed").length;
      expect(Math.abs(claimed - kept)).toBeLessThan(10);
      expect(states.at(-1)).toBe("held");
    },
  );

  it("is given back when no more named messages can be remembered", async () => {
    const ports = open();
    const heard: string[] = [];
    const say = ({ record: { message } }: Attempt, what: string): boolean =>
      heard.push(`${what} ${new TextDecoder().decode(message.body)}`) > 0;
    const namedOnes = new Named(
      ports.clock,
      {
        ...wired(ports),
        claiming: { take: (one) => say(one, "take"), giveBack: (one) => void say(one, "back") },
      },
      { rememberedMax: 2 },
    );
    const records = [];
    for (const name of ["a", "b", "c"]) records.push(await insertNamed(ports, name));
    namedOnes.hear(records.map((record) => ({ ...hintOf(record), record })));
    await ports.clock.advance(limits.namedLeaseMs);
    const last = await insertNamed(ports, "d");
    namedOnes.hear([{ ...hintOf(last), record: last }]);

    expect(heard).toEqual(["take a", "take b", "back c", "take d"]);
  });

  it("is left to a deliverer that understands it, where it has a format of a newer build", async () => {
    const ports = open();
    await startDeliverer(ports);
    await tellNamed(ports, "a", here, { format: ownFormat + 1 });
    await ports.clock.advance(3 * limits.namedLeaseMs);

    expect(called(ports)).toEqual([]);
  });
});

type Flood = { readonly headers?: Message["headers"]; readonly spread?: boolean };

const traceParent = (digit: string): TraceParent => `00-${digit.repeat(32)}-${digit.repeat(16)}-01`;

/** Returns a tracer that traces everything, and calls `within` with the trace in which code runs. */
const tracing = (within: (trace: TraceParent | undefined) => void): Telemetry => ({
  ...noTelemetry,
  tracer: {
    ...noTelemetry.tracer,
    isOn: true,
    within: (trace, task) => {
      within(trace);
      return task();
    },
  },
});

const ourFault: Outcome = { kind: "infrastructure", code: "internal", text: "no sockets" };

const roster = { announce: async () => undefined, leave: async () => undefined };

describe("the log", () => {
  async function listening() {
    const ports = open();
    const told: string[] = [];
    await ports.bus.subscribe("message.accepted", "test", async (events) => {
      told.push(...events.map(({ message }) => message.id));
    });
    return { ports, told };
  }
  it("has a named message after a second, redacted", async () => {
    const { ports, told } = await listening();
    await startDeliverer(ports);
    const [quick, slow] = [await insertNamed(ports, "a"), await insertNamed(ports, "b")];
    await tell(ports, quick, slow);
    await answer(ports, "a");
    await ports.clock.advance(5_000);

    expect(told).toEqual([slow.message.id]);
  });

  it("has a named message that waits for a slot", async () => {
    const { ports, told } = await listening();
    await startDeliverer(ports, { shortMax: 1, waitingMax: 0 });
    const records = [await insertNamed(ports, "a"), await insertNamed(ports, "b")];
    await tell(ports, ...records);
    await ports.clock.advance(1_500);

    expect(told.toSorted()).toEqual(records.map(({ message }) => message.id).toSorted());
  });

  it("has a named message once the bus is back", async () => {
    const { ports, told } = await listening();
    let isUp = true;
    await startDeliverer({ ...ports, bus: { ...ports.bus, isUp: () => isUp } });
    await tellNamed(ports, "a");
    isUp = false;
    await ports.clock.advance(3_000);
    expect(told).toEqual([]);
    isUp = true;
    await ports.clock.advance(250);

    expect(told).toHaveLength(1);
  });

  it.each<[string, (ports: Ports) => Promise<unknown>, Owner, Outcome | undefined]>([
    ["is another's", async () => undefined, another, undefined],
    ["comes late", ({ clock }) => clock.advance(5_000), here, undefined],
    ["could not be tried", async () => undefined, here, ourFault],
  ])(
    "hears at once of one that %s: it may be long until its next attempt",
    async (_, wait, by, outcome) => {
      const { ports, told } = await listening();
      await startDeliverer({ ...ports, roster });
      const record = await insertNamed(ports, "a", by);
      await wait(ports);
      await tell(ports, record);
      if (outcome) await answer(ports, "a", outcome);

      expect(told).toEqual([record.message.id]);
    },
  );

  it("has a named message that was given back", async () => {
    const { ports, told } = await listening();
    await startDeliverer({ ...ports, roster, tenants: tenantsWith({ parallelismMax: 1 }) });
    const record = await tellNamed(ports, "a");

    expect(told).toEqual([record.message.id]);
  });

  it("has a named message whose first owner died, when its next attempt takes long", async () => {
    const { ports, told } = await listening();
    await startDeliverer({ ...ports, roster });
    const record = await insertNamed(ports, "a", another);
    await ports.clock.advance(limits.namedLeaseMs + 1);
    await hint(ports, [record.message]);
    await ports.clock.advance(500);

    expect(called(ports)).toEqual(["a"]);
    expect(told).toEqual([record.message.id]);
  });

  it("has each named message inside its own trace", async () => {
    const within: (string | undefined)[] = [];
    const telemetry = tracing((trace) => within.push(trace));
    const ports = open();
    await startDeliverer({ ...ports, telemetry });
    const records = [];
    for (const trace of [traceParent("a"), traceParent("b"), undefined])
      records.push(await insertNamed(ports, "x", here, trace === undefined ? {} : { trace }));
    await tell(ports, ...records);
    await ports.clock.advance(1_500);

    expect(new Set(within)).toEqual(new Set(records.map(({ message }) => message.trace)));
  });
});

it("a message that is named for another deliverer is left to it until its lease has ended", async () => {
  const ports = open();
  await startDeliverer(ports);
  await tellNamed(ports, "a", another);
  await ports.clock.advance(limits.namedLeaseMs - 1);
  expect(called(ports)).toEqual([]);

  await ports.clock.advance(2);

  expect(called(ports)).toEqual(["a"]);
});

it("a deliverer that stops leaves the roster first: what is named for it meanwhile is called, and what waits goes back", async () => {
  const said: string[] = [];
  const leaving = { ...roster, leave: async () => void said.push("left") };
  const ports = open();
  const deliverer = await startDeliverer({ ...ports, roster: leaving }, { perOriginMax: 1 });
  await tellNamed(ports, "a");
  const stopped = deliverer.stop();
  await rest(ports);
  expect(said).toEqual(["left"]);
  await tellNamed(ports, "b", here, { url: elsewhere });
  const waiting = await insertNamed(ports, "c");
  await tell(ports, waiting);
  expect(called(ports)).toEqual(["a", "b"]);
  await answer(ports, "b");
  await ports.clock.advance(5_000);
  expect(await stateOf(ports, waiting.message)).toBe("held");
  await answer(ports, "a");
  await stopped;

  expect(called(ports)).toEqual(["a", "b"]);
});
