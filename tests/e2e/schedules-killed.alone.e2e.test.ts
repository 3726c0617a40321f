/** Tests that a process killed in the minute of many schedules leaves the due slots to the next one. */
import { expect, it } from "@jest/globals";
import { destination, server, startBeforeEach } from "./alone-suite.ts";
import { eventually, equals } from "./client.ts";
import { service } from "./dialects.ts";
import { objectOf, textOf } from "./json.ts";

const count = 300;
const killsAt = [1, 60, 180];
const minuteMs = 60_000;
/** The schedules are made in less, however busy the host. */
const makingMs = 15_000;
const testMsMax = 240_000;

startBeforeEach();

it(
  "the slots of a minute survive kill -9: each has one message, and each message is delivered",
  async () => {
    const { client, process } = server;
    const slot = new Date(Math.ceil((Date.now() + makingMs) / minuteMs) * minuteMs);
    const Cron = `${slot.getUTCMinutes()} ${slot.getUTCHours()} * * *`;
    const made = new Map<string, Set<string>>();
    let restarted = Promise.resolve();
    let kills = 0;
    destination.answers("/slot", ({ headers }, response, nth) => {
      made.get(String(headers["service-schedule-id"]))?.add(String(headers["service-message-id"]));
      response.end();
      if (nth + 1 < (killsAt[kills] ?? Infinity)) return;
      kills += 1;
      restarted = restarted.then(() => process.kill()).then(() => process.start());
    });
    const make = async () => {
      const to = `/v2/schedules/${destination.url("/slot")}`;
      const reply = await client.post(to, service({ Cron }));
      made.set(textOf(reply.object()["scheduleId"]), new Set());
    };
    await Promise.all(Array.from({ length: count }, make));

    await eventually(
      () => Promise.resolve([...made.values()].filter(({ size }) => size === 0).length),
      equals(0),
      testMsMax / 2,
    );
    await restarted;

    expect(kills).toBe(killsAt.length);
    for (const [id, messages] of made) {
      const read = async () => objectOf((await client.get(`/v2/schedules/${id}`)).json());
      const { lastScheduleTime } = await eventually(read, ({ lastScheduleTime: last }) => !!last);
      expect({ lastScheduleTime, messages: messages.size }).toEqual({
        lastScheduleTime: slot.getTime(),
        messages: 1,
      });
    }
  },
  testMsMax,
);
