import { type Queue } from "@posthaste/client";
import { type Command } from "commander";
import { countOf } from "../filters.ts";
import { withValue } from "../option.ts";
import { type Column } from "../output.ts";
import { type Acting } from "../session.ts";

const columns: readonly Column<Queue>[] = [
  ["queue", ({ name }) => name],
  ["waiting", ({ lag }) => lag],
  ["parallelism", ({ parallelism }) => parallelism],
  ["state", ({ paused }) => (paused ? "paused" : "running")],
];

export function addQueues(program: Command, acting: Acting): void {
  const queues = program.command("queues").description("queues");
  queues
    .command("ls")
    .description("list the queues")
    .action(acting(async ({ client, output }) => output.rows(await client.queues.list(), columns)));
  queues
    .command("show <queue>")
    .description("show how many messages wait, and whether the queue is paused")
    .action(
      acting(async ({ client, output }, [name = ""]) =>
        output.item(await client.queues.read(name)),
      ),
    );
  withValue(queues.command("set <queue>"), "--parallelism <count>", {
    about: "Deliveries of the queue at once, at most",
    ...{ fallback: "unchanged, 1 for a new queue", example: "5" },
  })
    .description("make or change a queue")
    .action(
      acting<{ parallelism?: string }>(async ({ client, output }, [queueName = ""], options) => {
        const { parallelism } = options;
        const limits =
          parallelism === undefined ? {} : { parallelism: countOf(parallelism, "--parallelism") };
        await client.queues.upsert({ body: { queueName, ...limits } });
        output.done(`${queueName} is set`, { queueName, ...limits });
      }),
    );
  for (const [name, method, done] of [
    ["rm", "remove", "removed"],
    ["pause", "pause", "paused"],
    ["resume", "resume", "resumed"],
  ] as const)
    queues
      .command(`${name} <queue>`)
      .description(`${name === "rm" ? "remove" : name} a queue`)
      .action(
        acting(async ({ client, output }, [queue = ""]) => {
          // The API answers a removal with success also where there was nothing to remove.
          if (name === "rm") await client.queues.read(queue);
          await client.queues[method](queue);
          output.done(`${queue} ${done}`, { queueName: queue, [done]: true });
        }),
      );
}
