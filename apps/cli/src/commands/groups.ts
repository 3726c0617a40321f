import { type Client, type UrlGroup } from "@posthaste/client";
import { type Command } from "commander";
import { CliError } from "../exit.ts";
import { type Column, counted } from "../output.ts";
import { type Acting } from "../session.ts";

const columns: readonly Column<UrlGroup>[] = [
  ["group", ({ name }) => name],
  ["endpoints", ({ endpoints }) => endpoints.length],
  ["urls", ({ endpoints }) => endpoints.map(({ url }) => url).join(" ")],
];

export function addGroups(program: Command, acting: Acting): void {
  const groups = program.command("groups").description("URL groups");
  groups
    .command("ls")
    .description("list the groups")
    .action(acting(async ({ client, output }) => output.rows(await client.groups.list(), columns)));
  groups
    .command("show <group>")
    .description("show a group with its endpoints")
    .action(
      acting(async ({ client, output }, [name = ""]) =>
        output.item(await client.groups.read(name)),
      ),
    );
  for (const [name, method, done] of [
    ["add", "addEndpoints", "added"],
    ["drop", "removeEndpoints", "dropped"],
  ] as const)
    groups
      .command(`${name} <group> <urls...>`)
      .description(`${name} endpoints`)
      .action(
        acting(async ({ client, output }, [group = "", ...urls]) => {
          if (name === "drop") await refuseAbsent(client, group, urls);
          const [first = "", ...others] = urls;
          await client.groups[method](group, {
            body: { endpoints: [{ url: first }, ...others.map((url) => ({ url }))] },
          });
          output.done(`${counted(urls.length, "endpoint")} ${done}`, {
            name: group,
            [done]: urls.length,
          });
        }),
      );
  groups
    .command("rm <group>")
    .description("remove a group")
    .action(
      acting(async ({ client, output }, [name = ""]) => {
        await refuseAbsent(client, name);
        await client.groups.remove(name);
        output.done(`${name} removed`, { name, removed: true });
      }),
    );
}

/** The API answers a removal with success also where there was nothing to remove. */
async function refuseAbsent(
  { groups }: Client,
  name: string,
  urls: readonly string[] = [],
): Promise<void> {
  const { endpoints } = await groups.read(name);
  const absent = urls.find((url) => !endpoints.some((each) => each.url === url));
  if (absent !== undefined)
    throw new CliError("unknown", `the group ${name} has no endpoint ${absent}`);
}
