import { type Command } from "commander";
import { type Acting } from "../session.ts";

export function addKeys(program: Command, acting: Acting): void {
  const keys = program.command("keys").description("signing keys");
  for (const [name, method, about] of [
    ["show", "read", "show the current key and the next"],
    ["rotate", "rotate", "make the next key the current one, and a new key the next"],
  ] as const)
    keys
      .command(name)
      .description(about)
      .action(acting(async ({ client, output }) => output.item(await client.keys[method]())));
}
