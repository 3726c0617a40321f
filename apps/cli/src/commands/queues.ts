import { type Queue } from "@posthaste/client";
import { type Command } from "commander";
import { countOf } from "../filters.ts";
import { withValue } from "../option.ts";
import { type Column } from "../output.ts";
import { type Acting } from "../session.ts";
import { addActs } from "./acts.ts";

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
  addActs(queues, acting, "queue", "queueName", (client) => client.queues);
}
