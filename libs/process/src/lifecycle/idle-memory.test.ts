import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "@jest/globals";
import { giveMemoryBackWhenIdle } from "./idle-memory.ts";

const mebibyte = 1024 * 1024;

it("gives the memory of a burst back once the process is idle", async () => {
  const stop = giveMemoryBackWhenIdle(100);
  let burst: object[] | undefined = Array.from({ length: 2_000_000 }, (_, n) => ({ n, of: [n] }));
  const heldBytes = process.memoryUsage().heapTotal;
  expect(burst).toHaveLength(2_000_000);
  burst = undefined;

  while (heldBytes - process.memoryUsage().heapTotal < 64 * mebibyte) await sleep(50);
  stop();
});
