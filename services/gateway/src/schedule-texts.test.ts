import { describe, expect, it } from "@jest/globals";
import { openEmbedded } from "@posthaste/embedded";
import { type Schedules } from "@posthaste/ports";
import { aSchedule, aScheduleCommand, aTenant, epochStart, sha256 } from "@posthaste/testing";
import { openInMemory } from "@posthaste/testing/in-memory";
import { readsOf } from "./reads.fixture.ts";
import { scheduleListTexts, schedulePages } from "./schedule-texts.ts";

const kib = 1_024;

async function opened(bodies: readonly number[]): Promise<Schedules> {
  const { schedules } = openInMemory(openEmbedded).store;
  for (const [nth, bytes] of bodies.entries()) {
    const command = aScheduleCommand("0 0 1 1 *", { body: new Uint8Array(bytes).fill(97) });
    await schedules.put(aSchedule(`scd_${nth}`, command, epochStart + nth), "new");
  }
  return schedules;
}

async function listed(schedules: Schedules) {
  const reads = readsOf({ schedules });
  const pages = schedulePages(reads, aTenant);
  let text = "";
  for await (const piece of scheduleListTexts(reads, sha256, pages)) text += piece;
  const all = JSON.parse(text) as readonly { scheduleId: string; body?: string }[];
  return all.map(({ scheduleId, body }) => [scheduleId, body?.length]);
}

describe("a list of schedules", () => {
  it("leaves out a body longer than 64 KiB, and no other field of its schedule", async () => {
    const schedules = await opened([0, 5, 64 * kib, 64 * kib + 1]);

    expect(await listed(schedules)).toEqual([
      ["scd_0", undefined],
      ["scd_1", 5],
      ["scd_2", 64 * kib],
      ["scd_3", undefined],
    ]);
  });

  it("shows 16 MiB of bodies, reads 16 of them at once, and leaves no schedule out", async () => {
    const schedules = await opened(Array<number>(300).fill(64 * kib));
    let most = 0;
    const watched: Schedules = {
      ...schedules,
      get: async (keys) => {
        most = Math.max(most, keys.length);
        return schedules.get(keys);
      },
    };

    const all = await listed(watched);

    expect(all.map(([id]) => id)).toEqual(Array.from({ length: 300 }, (_, n) => `scd_${n}`));
    expect(all.filter(([, length]) => length === 64 * kib)).toHaveLength(256);
    expect(most).toBe(16);
  });

  it("is an empty array if no schedule exists", async () => {
    expect(await listed(await opened([]))).toEqual([]);
  });
});
