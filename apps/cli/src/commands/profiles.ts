import { text } from "node:stream/consumers";
import { type Command } from "commander";
import { CliError } from "../exit.ts";
import { type Profile, readProfiles, writeProfiles } from "../profiles.ts";
import { type Acting, serverUrl, type Session } from "../session.ts";

export function addProfiles(program: Command, acting: Acting): void {
  const profile = program.command("profile").description("servers by name");
  profile
    .command("ls")
    .description("list the profiles")
    .action(
      acting(async ({ host, output }) => {
        const { current, profiles } = readProfiles(host.env);
        const all = Object.entries(profiles).map(([name, { url }]) => ({
          ...{ name, url, isCurrent: name === current },
        }));
        output.rows(all, [
          ["profile", ({ name }) => name],
          ["server", ({ url }) => url],
          ["", ({ isCurrent }) => (isCurrent ? "in use" : "")],
        ]);
      }),
    );
  profile
    .command("set <name> <url>")
    .description("add or change a profile; the token is read from stdin")
    .action(
      acting(async (session, [name = "", url = ""]) => {
        const { env, stdin } = session.host;
        serverUrl("url", url);
        if (stdin.isTTY === true) session.host.err.write("token: ");
        const token = (await firstLine(stdin)).trim();
        if (token === "")
          throw new CliError("usage", "the token is read from stdin, which is empty");
        const before = readProfiles(env);
        const profiles: Record<string, Profile> = { ...before.profiles, [name]: { url, token } };
        writeProfiles(env, { current: before.current ?? name, profiles });
        session.output.done(`${name} set`, { name, url });
      }),
    );
  profile
    .command("use <name>")
    .description("choose the default profile")
    .action(
      acting(async (session, [name = ""]) => {
        writeProfiles(session.host.env, { ...known(session, name), current: name });
        session.output.done(`${name} is in use`, { name });
      }),
    );
  profile
    .command("rm <name>")
    .description("remove a profile")
    .action(
      acting(async (session, [name = ""]) => {
        const { current, profiles } = known(session, name);
        const { [name]: _, ...others } = profiles;
        const still = current === name ? {} : current !== undefined && { current };
        writeProfiles(session.host.env, { ...still, profiles: others });
        session.output.done(`${name} removed`, { name, removed: true });
      }),
    );
}

function known({ host }: Session, name: string) {
  const read = readProfiles(host.env);
  if (!read.profiles[name]) throw new CliError("unknown", `there is no profile ${name}`);
  return read;
}

/** Returns one line from a terminal, which does not end its input, or the whole input from elsewhere. */
async function firstLine(stdin: Session["host"]["stdin"]): Promise<string> {
  if (stdin.isTTY !== true) return text(stdin);
  for await (const chunk of stdin) return String(chunk);
  return "";
}
