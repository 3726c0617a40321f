/** What ends in a destination: publish, enqueue, batch. */
import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { settingNames, type Settings } from "@posthaste/client";
import { type Command } from "commander";
import { CliError } from "../exit.ts";
import { collected } from "../filters.ts";
import { type Acting, type Session } from "../session.ts";

type Options = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Those that a person sets; the rest is for clients of workflows, or has a command of its own. */
const settings = Object.keys(settingNames).filter(
  (name) => !/^(workflow|feature|telemetry|cron|scheduleId|queueName|hop|dryRun)/.test(name),
) as readonly (keyof typeof settingNames)[];

const dashed = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

const optionOf = (name: keyof typeof settingNames) =>
  [`--${dashed(name)} <value>`, `the header Service-${settingNames[name]}`] as const;

export function withSettings(command: Command): Command {
  for (const name of settings)
    if (/label$/i.test(name)) command.option(...optionOf(name), collected);
    else command.option(...optionOf(name));
  return command
    .option("-H, --header <header>", "for the destination, such as 'X-Shop: north'", collected)
    .option("-d, --data <body>", "the body; @file reads it from a file, @- from stdin")
    .option("--content-type <type>", "of the body; application/json where that is JSON");
}

/** What is published, without where it goes. */
export async function publicationOf({ host }: Session, options: Options) {
  const given: Settings = Object.fromEntries(
    settings.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]])),
  );
  const body = await bodyOf(host.stdin, options["data"] as string | undefined);
  const contentType = (options["contentType"] as string | undefined) ?? typeOf(body);
  return {
    ...given,
    headers: headersOf((options["header"] as readonly string[] | undefined) ?? []),
    ...(body !== undefined && { body }),
    ...(contentType !== undefined && { contentType }),
  };
}

async function bodyOf(
  stdin: NodeJS.ReadableStream,
  data: string | undefined,
): Promise<string | Uint8Array | undefined> {
  if (!data?.startsWith("@")) return data;
  if (data === "@-") return text(stdin);
  try {
    return readFileSync(data.slice(1));
  } catch {
    throw new CliError("usage", `--data: there is no file ${data.slice(1)} to read`);
  }
}

function typeOf(body: string | Uint8Array | undefined): string | undefined {
  if (body === undefined) return undefined;
  try {
    JSON.parse(typeof body === "string" ? body : new TextDecoder().decode(body));
    return "application/json";
  } catch {
    return undefined;
  }
}

function headersOf(lines: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf(":");
      if (at < 1)
        throw new CliError("usage", `--header: ${line} is no header such as 'Name: value'`);
      return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    }),
  );
}

type Published = { readonly messageId: string; readonly url?: string };

function say({ output }: Session, published: Published | readonly Published[]): void {
  output.rows("messageId" in published ? [published] : published, [
    ["message", ({ messageId }) => messageId],
    ["url", ({ url }) => url],
  ]);
}

export function addPublishing(program: Command, acting: Acting): void {
  withSettings(program.command("publish <destination>"))
    .description("publish to a URL, or to each endpoint of a URL group")
    .action(
      acting<Options>(async (session, [to = ""], options) => {
        say(
          session,
          await session.client.publish({ to, ...(await publicationOf(session, options)) }),
        );
      }),
    );
  withSettings(program.command("enqueue <queue> <destination>"))
    .description("publish through a queue, which is made if there is none")
    .action(
      acting<Options>(async (session, [queue = "", to = ""], options) => {
        const publication = await publicationOf(session, options);
        say(session, await session.client.enqueue({ to, queue, ...publication }));
      }),
    );
  program
    .command("batch <file>")
    .description("publish the items of a JSON list, as docs/batch.md has them; - is stdin")
    .action(
      acting(async (session, [file = ""]) => {
        const body = await bodyOf(session.host.stdin, `@${file}`);
        const asked = { body: body ?? "" };
        const answers = (await session.client.call(
          "publishBatch",
          asked as never,
        )) as unknown as readonly (Published | readonly Published[])[];
        say(session, answers.flat());
      }),
    );
}
