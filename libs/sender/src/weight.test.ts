import { afterEach, describe, expect, it } from "@jest/globals";
import { closeAll, openDestination, openSender, requestTo, usedBytes } from "./test-kit.ts";

afterEach(closeAll);

describe("a call that waits for its answer", () => {
  it("takes less than 64 KiB of memory, its body and the destination's side of the connection included", async () => {
    const calls = 500;
    const { promise: allHang, resolve } = Promise.withResolvers<void>();
    let hanging = 0;
    const { url } = await openDestination(() => void (++hanging === calls && resolve()));
    const sender = openSender({ connectionsPerOriginMax: calls });
    const before = usedBytes();

    const sendings = Array.from({ length: calls }, () =>
      sender.send(requestTo(url, { body: Buffer.alloc(1_024), timeoutMs: 60_000 })),
    );
    await allHang;

    expect((usedBytes() - before) / calls).toBeLessThan(64 * 1_024);
    expect(sendings).toHaveLength(calls);
  });
});
