import { describe, expect, it } from "@jest/globals";
import {
  limits,
  type Message,
  originHash,
  type Outcome,
  type TenantId,
  tenantId,
} from "@posthaste/domain";
import { type Records } from "@posthaste/ports";
import { aCallbackPlan, anAnswer, aPolicy, aTenant } from "@posthaste/testing";
import {
  elsewhere,
  hint,
  insert,
  open,
  type Ports,
  publish,
  rest,
  startDeliverer,
  withRecords,
} from "../opened.fixture.ts";

const mebibyte = 1024 * 1024;
const ok = anAnswer(200);
const other = tenantId("other");

const urlOf = (n: number): string => `https://host-${n}.example/`;

async function insertHeavy(ports: Ports, n: number, url = urlOf): Promise<readonly Message[]> {
  const messages: Message[] = [];
  for (let i = 0; i < n; i++)
    messages.push(await insert(ports, { url: url(i), body: new Uint8Array(mebibyte) }));
  return messages;
}

const callsTo = ({ calls }: Ports, url: string): number =>
  calls.filter((call) => call.url === url).length;

describe("a deliverer among heavy messages", () => {
  it("holds no more bytes of bodies than its bound, gives no address more than its share, and calls each once", async () => {
    const ports = open();
    await startDeliverer(ports, {}, { bodyBytesMax: 8 * mebibyte });
    await hint(ports, await insertHeavy(ports, 24, (i) => urlOf(i % 3)));

    // Three names of one server: its address may have three quarters of the tenant's three quarters.
    expect(ports.calls).toHaveLength(4);
    for (let n = 0; n < 24; n++) {
      expect(ports.calls.length - n).toBeLessThanOrEqual(4);
      ports.calls[n]?.answer(ok);
      await rest(ports);
    }
    expect(ports.calls).toHaveLength(24);
    expect([0, 1, 2].map((n) => callsTo(ports, urlOf(n)))).toEqual([8, 8, 8]);
  });

  it("claims at once no more of them than one reading holds, and one at least, until all are called", async () => {
    const ports = open();
    const portions: number[] = [];
    const claim: Records["claim"] = async (ids, owner) => {
      const claimed = await ports.records.claim(ids, owner);
      portions.push(claimed.reduce((bytes, { message }) => bytes + message.body.length, 0));
      return claimed;
    };
    await startDeliverer(withRecords(ports, { claim }), {}, { bodyBytesMax: 128 * mebibyte });
    const body = new Uint8Array(limits.readBytesMax * 0.75);
    const sent: Message[] = [];
    for (let n = 0; n < 5; n++) sent.push(await insert(ports, { url: urlOf(n), body }));
    await hint(ports, sent);

    expect(portions.map((bytes) => bytes / body.length)).toEqual([2, 2, 1]);
    expect(ports.calls).toHaveLength(5);
  });

  it("where two tenants hang as many as they may at one server calls another tenant's, and another server's", async () => {
    const ports = open();
    await startDeliverer(ports, {}, { bodyBytesMax: 4 * mebibyte });
    const body = new Uint8Array(64 * 1024);
    const publishHeavy = async (count: number, url: typeof urlOf, tenant: TenantId) => {
      const messages: Message[] = [];
      for (let n = 0; n < count; n++)
        messages.push(await insert(ports, { url: url(n), tenant, body }));
      await hint(ports, messages);
    };
    for (const tenant of [aTenant, tenantId("second")])
      await publishHeavy(64, (n) => urlOf(n % 2), tenant);
    const hanging = ports.calls.length;
    await ports.clock.advance(60_000);
    for (const tenant of [other, aTenant]) await publishHeavy(1, () => elsewhere, tenant);

    expect(hanging).toBeGreaterThan(40);
    expect(callsTo(ports, elsewhere)).toBe(2);
  });

  it("calls light ones of the same origin meanwhile, hinted or claimed by their inserts", async () => {
    const ports = open();
    const deliverer = await startDeliverer(ports, {}, { bodyBytesMax: 2 * mebibyte });
    await hint(ports, await insertHeavy(ports, 8, () => urlOf(0)));
    const before = ports.calls.length;
    await publish(ports, ["a", "b"], { url: urlOf(0) });

    expect(before).toBe(1);
    expect(ports.calls).toHaveLength(3);
    const origin = originHash(urlOf(0));
    expect(deliverer.local.reserve(aTenant, origin, 1_000)).toBeDefined();
    expect(deliverer.local.reserve(aTenant, origin, mebibyte)).toBeUndefined();
    expect(deliverer.local.reserve(aTenant, originHash(urlOf(1)), 2 * mebibyte)).toBeUndefined();
  });

  it("reserves bytes for an insert, and has them back when it fails", async () => {
    const ports = open();
    const deliverer = await startDeliverer(ports, {}, { bodyBytesMax: 2 * mebibyte });
    const origin = originHash(urlOf(0));

    const place = deliverer.local.reserve(aTenant, origin, mebibyte);
    expect(place).toBeDefined();
    expect(deliverer.local.reserve(aTenant, origin, mebibyte)).toBeUndefined();
    place?.release();
    expect(deliverer.local.reserve(aTenant, origin, mebibyte)).toBeDefined();
  });

  it("counts a body, and keeps the bytes of its answer, until the store has its outcome and all follow-ups are announced", async () => {
    const ports = open(() => ok);
    const { promise: opened, resolve: letGo } = Promise.withResolvers<void>();
    const settle: Records["settle"] = async (settlements) => {
      await opened;
      return ports.records.settle(settlements);
    };
    await startDeliverer(withRecords(ports, { settle }), {}, { bodyBytesMax: 6 * mebibyte });
    await hint(ports, await insertHeavy(ports, 12));

    expect(ports.calls).toHaveLength(3);
    expect(ports.calls.map(({ forgotten }) => forgotten)).toEqual([0, 0, 0]);
    letGo();
    for (let turns = 0; turns < 20; turns++) await rest(ports);
    expect(ports.calls.map(({ forgotten }) => forgotten)).toEqual(Array(12).fill(1));
  });

  it("claims nothing more while 64 MiB of answers wait to be written", async () => {
    const answer: Outcome = { ...ok, body: new Uint8Array(mebibyte) };
    const ports = open(() => answer);
    const { promise: opened, resolve: letGo } = Promise.withResolvers<void>();
    const settle: Records["settle"] = async (settlements) => {
      await opened;
      return ports.records.settle(settlements);
    };
    await startDeliverer(withRecords(ports, { settle }));
    const asking = { policy: aPolicy({ callback: aCallbackPlan() }) };
    const names = Array.from({ length: 33 }, (_, i) => `${i}`);
    for (let batches = 0; batches < 3; batches++) await publish(ports, names, asking);

    expect(ports.calls).toHaveLength(66);
    letGo();
    for (let turns = 0; turns < 20; turns++) await rest(ports);
    expect(ports.calls).toHaveLength(99);
  });
});
