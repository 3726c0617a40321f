import { describe, expect, it } from "@jest/globals";
import { createBusyReading } from "./busy.ts";

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 60));
const work = (): void => {
  const end = performance.now() + 60;
  while (performance.now() < end);
};

describe("the reading of whether the event loop has time to spare", () => {
  it("distinguishes a loop that works all the time from one that waits", async () => {
    const isBusy = createBusyReading(0.9);
    await pause();
    expect(isBusy()).toBe(false);
    work();
    expect(isBusy()).toBe(true);
    await pause();
    expect(isBusy()).toBe(false);
  });
});
