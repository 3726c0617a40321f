import { afterEach, describe, expect, it } from "@jest/globals";
import { tenantId } from "@posthaste/domain";
import { type Sending } from "@posthaste/ports";
import { unbudgetedBytes } from "./call.ts";
import { closeAll, inShort, openDestination, openSender, requestTo } from "./test-kit.ts";

afterEach(closeAll);

const mebibyte = 1024 * 1024;
const answerBytesMax = 8 * mebibyte;
const head = `HTTP/1.1 200 OK\r\ncontent-length: ${mebibyte}\r\n\r\n`;
const other = tenantId("other");

/** Opens a server that sends all of a body but one byte, and stops. */
const openStopping = () =>
  openDestination((socket) => socket.write(head + "x".repeat(mebibyte - 1)));

const openWhole = (host?: string) =>
  openDestination((socket) => socket.write(head + "y".repeat(mebibyte)), host ? { host } : {});

const lengthOf = async ({ outcome }: Sending): Promise<string> => {
  const [, body = ""] = inShort(await outcome).split(" ");
  return body.endsWith("…") ? `${body.length - 1} cut` : `${body.length}`;
};
const whole = `${mebibyte}`;

describe("answers that stop before their end", () => {
  it("hold no more than their budget; an answer beyond it is cut", async () => {
    const { url } = await openStopping();
    const sender = openSender({ answerBytesMax });
    const cut: string[] = [];
    const calls = Array.from({ length: 40 }, () => sender.send(requestTo(url)));
    const { promise: enough, resolve } = Promise.withResolvers<void>();
    for (const call of calls)
      void lengthOf(call).then((length) => void (cut.push(length) === 36 && resolve()));

    // All calls but the four for which there is room.
    await enough;
    const held = sender.answerBytes();
    const there = await openWhole("127.0.0.2");

    expect(held).toBeLessThan(answerBytesMax * (3 / 4));
    expect(cut.every((length) => Number.parseInt(length) >= unbudgetedBytes)).toBe(true);
    expect(await lengthOf(sender.send(requestTo(there.url, { tenant: other })))).toBe(whole);
  });

  it("give their bytes back once they are in use no more", async () => {
    const sender = openSender({ answerBytesMax: 2 * mebibyte });
    const { url } = await openWhole();
    const lengths: string[] = [];
    for (let n = 0; n < 4; n++) {
      const sending = sender.send(requestTo(url));
      lengths.push(await lengthOf(sending));
      sending.forget?.();
    }
    const none = sender.answerBytes();
    const kept: string[] = [];
    for (let n = 0; n < 2; n++) kept.push(await lengthOf(sender.send(requestTo(url))));

    expect(lengths).toEqual([whole, whole, whole, whole]);
    expect(none).toBe(0);
    expect(kept).toEqual([whole, expect.stringMatching(/ cut$/)]);
  });
});
