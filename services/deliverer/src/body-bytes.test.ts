import { describe, expect, it } from "@jest/globals";
import { type Message, originHash, type Outcome, tenantId } from "@posthaste/domain";
import { type Records } from "@posthaste/ports";
import { aCallbackPlan, anAnswer, aPolicy, aTenant } from "@posthaste/testing";
import { BodyBytes, countedBytes } from "./body-bytes.ts";
import {
  hint,
  insert,
  named,
  open,
  type Ports,
  publish,
  rest,
  startDeliverer,
  withRecords,
} from "./opened.fixture.ts";

const mebibyte = 1024 * 1024;
const ok = anAnswer(200);
const other = tenantId("other");

describe("bytes of bodies in flight", () => {
  it("are those of heavy bodies alone; one of unknown size counts as a mebibyte", () => {
    expect([0, 32 * 1024, 32 * 1024 + 1, undefined].map(countedBytes)).toEqual([
      0,
      0,
      32 * 1024 + 1,
      mebibyte,
    ]);
  });

  it("have a bound, with a half for one origin and three quarters for one tenant", () => {
    const bytes = new BodyBytes(8);
    bytes.take(aTenant, 1, 4);

    expect(bytes.fit(aTenant, 1, 1)).toBe(false);
    expect(bytes.fit(aTenant, 2, 2)).toBe(true);
    bytes.take(aTenant, 2, 2);
    expect(bytes.fit(aTenant, 3, 1)).toBe(false);
    expect(bytes.fit(other, 4, 2)).toBe(true);
    expect(bytes.fit(other, 4, 3)).toBe(false);
    bytes.free(aTenant, 1, 4);
    expect(bytes.fit(aTenant, 3, 1)).toBe(true);
    expect(bytes.fit(other, 4, 3)).toBe(true);
  });

  it("let the first body pass, however large, and light ones always", () => {
    const bytes = new BodyBytes(8);

    expect(bytes.fit(aTenant, 1, 100)).toBe(true);
    bytes.take(aTenant, 1, 100);
    expect(bytes.fit(other, 2, 1)).toBe(false);
    expect(bytes.fit(aTenant, 1, 0)).toBe(true);
    bytes.free(aTenant, 1, 100);
    expect(bytes.inFlight).toBe(0);
  });
});

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
  it("holds no more bytes of bodies than its bound, gives no origin more than half, and calls each once", async () => {
    const ports = open();
    await startDeliverer(ports, {}, { bodyBytesMax: 8 * mebibyte });
    await hint(ports, await insertHeavy(ports, 24, (i) => urlOf(i % 3)));

    expect(ports.calls).toHaveLength(6);
    for (let n = 0; n < 24; n++) {
      expect(ports.calls.length - n).toBeLessThanOrEqual(8);
      ports.calls[n]?.answer(ok);
      await rest(ports);
    }
    expect(ports.calls).toHaveLength(24);
    expect([0, 1, 2].map((n) => callsTo(ports, urlOf(n)))).toEqual([8, 8, 8]);
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
    expect(deliverer.reserve(aTenant, origin, 1_000)).toBe(true);
    expect(deliverer.reserve(aTenant, origin, mebibyte)).toBe(false);
    expect(deliverer.reserve(aTenant, originHash(urlOf(1)), 2 * mebibyte)).toBe(false);
  });

  it("reserves bytes for an insert, and has them back when it fails", async () => {
    const ports = open();
    const deliverer = await startDeliverer(ports, {}, { bodyBytesMax: 2 * mebibyte });
    const origin = originHash(urlOf(0));

    expect(deliverer.reserve(aTenant, origin, mebibyte)).toBe(true);
    expect(deliverer.reserve(aTenant, origin, mebibyte)).toBe(false);
    deliverer.release(aTenant, origin, mebibyte);
    expect(deliverer.reserve(aTenant, origin, mebibyte)).toBe(true);
  });

  it("counts a body, and keeps the bytes of its answer, until the store has its outcome and all are told", async () => {
    const ports = open(() => ok);
    const { promise: opened, resolve: letGo } = Promise.withResolvers<void>();
    const settle: Records["settle"] = async (settlements) => {
      await opened;
      return ports.records.settle(settlements);
    };
    await startDeliverer(withRecords(ports, { settle }), {}, { bodyBytesMax: 4 * mebibyte });
    await hint(ports, await insertHeavy(ports, 12));

    expect(ports.calls).toHaveLength(3);
    expect(ports.calls.map(({ forgotten }) => forgotten)).toEqual([0, 0, 0]);
    letGo();
    for (let turns = 0; turns < 20; turns++) await rest(ports);
    expect(ports.calls.map(({ forgotten }) => forgotten)).toEqual(Array(12).fill(1));
  });

  it("knows the size of a claimed body whose hint did not say it", async () => {
    const ports = open();
    await startDeliverer(ports, {}, { bodyBytesMax: 4 * mebibyte });
    const light = await insert(ports, named("light"));
    const heavy = await insertHeavy(ports, 4);
    await ports.bus.publish(
      "message.due",
      [light, ...heavy].map(({ id, tenant, url }) => ({
        ...{ id, tenant, epoch: 0 },
        origin: originHash(url),
      })),
    );
    await rest(ports);

    // Three mebibytes for the tenant; what was light counts no more once it is claimed.
    expect(ports.calls).toHaveLength(4);
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
