import { type FlowKey } from "@posthaste/client";
import { type Command } from "commander";
import { countOf } from "../filters.ts";
import { withValue } from "../option.ts";
import { type Column } from "../output.ts";
import { type Acting } from "../session.ts";

const columns: readonly Column<FlowKey>[] = [
  ["flow key", ({ flowControlKey }) => flowControlKey],
  ["waiting", ({ waitListSize }) => waitListSize],
  ["running", ({ parallelismCount, parallelismMax }) => of(parallelismCount, parallelismMax)],
  ["in the period", ({ rateCount, rateMax }) => of(rateCount, rateMax)],
  ["state", ({ isPaused }) => (isPaused ? "paused" : "running")],
];
const of = (count: number, most: number): string => (most > 0 ? `${count} of ${most}` : `${count}`);

export function addFlow(program: Command, acting: Acting): void {
  const flow = program.command("flow").description("flow control keys");
  withValue(flow.command("ls"), "--search <text>", {
    ...{ about: "A part of the key", fallback: "any", example: "carr" },
  })
    .description("list flow-control keys, or the keys that contain a text")
    .action(
      acting<{ search?: string }>(async ({ client, output }, _, { search }) => {
        const asked = search === undefined ? {} : { query: { search } };
        output.rows(await client.flow.list(asked), columns);
      }),
    );
  flow
    .command("show <key>")
    .description("show the limits of a key, and how much of them is used")
    .action(
      acting(async ({ client, output }, [key = ""]) => output.item(await client.flow.read(key))),
    );
  const pin = flow.command("pin <key>").description("set limits that messages do not change");
  withValue(pin, "--parallelism <count>", {
    ...{ about: "Calls at once, at most", fallback: "no limit", example: "2" },
  });
  withValue(pin, "--rate <count>", {
    ...{ about: "Calls in a period, at most", fallback: "no limit", example: "10" },
  });
  withValue(pin, "--period <seconds>", { about: "In seconds", fallback: "1", example: "60" });
  pin.action(
    acting<Readonly<Record<"parallelism" | "rate" | "period", string>>>(
      async ({ client, output }, [key = ""], options) => {
        for (const [name, text] of Object.entries(options)) countOf(text, `--${name}`);
        await client.flow.pin(key, { query: { ...options } });
        output.done(`${key} pinned`, { flowControlKey: key, pinned: true });
      },
    ),
  );
  flow
    .command("unpin <key>")
    .description("use the limits of the key's messages again")
    .option("--parallelism", "this limit")
    .option("--rate", "this limit")
    .action(
      acting<{ parallelism?: true; rate?: true }>(
        async ({ client, output }, [key = ""], options) => {
          await client.flow.unpin(key, { query: { ...options } });
          output.done(`${key} unpinned`, { flowControlKey: key, unpinned: true });
        },
      ),
    );
  for (const [name, method, done] of [
    ["pause", "pause", "paused"],
    ["resume", "resume", "resumed"],
    ["reset", "reset", "reset"],
    ["reset-rate", "resetRate", "reset"],
  ] as const)
    flow
      .command(`${name} <key>`)
      .description(name === "reset-rate" ? "begin the period of a key anew" : `${name} a key`)
      .action(
        acting(async ({ client, output }, [key = ""]) => {
          await client.flow[method](key);
          output.done(`${key} ${done}`, { flowControlKey: key, [done]: true });
        }),
      );
}
