/** The commands that queues and schedules have alike: remove, pause and resume one. */
import { type Command } from "commander";
import { type Acting, type Session } from "../session.ts";

type Things = Readonly<
  Record<"read" | "remove" | "pause" | "resume", (id: string) => Promise<unknown>>
>;

export function addActs(
  parent: Command,
  acting: Acting,
  thing: "queue" | "schedule",
  idName: string,
  thingsOf: (client: Session["client"]) => Things,
): void {
  for (const [name, method, done] of [
    ["rm", "remove", "removed"],
    ["pause", "pause", "paused"],
    ["resume", "resume", "resumed"],
  ] as const)
    parent
      .command(`${name} <${thing}>`)
      .description(`${method} a ${thing}`)
      .action(
        acting(async ({ client, output }, [id = ""]) => {
          const things = thingsOf(client);
          // The API answers a removal with success also where there was nothing to remove.
          if (name === "rm") await things.read(id);
          await things[method](id);
          output.done(`${id} ${done}`, { [idName]: id, [done]: true });
        }),
      );
}
