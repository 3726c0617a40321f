/** The commands that name a destination: publish, enqueue and batch. */
import { readFileSync } from "node:fs";
import { PassThrough } from "node:stream";
import { buffer } from "node:stream/consumers";
import { type Client, settingNames, type Settings } from "@posthaste/client";
import { type Command } from "commander";
import { edited, isJson } from "../editor.ts";
import { readableText } from "../readable-text.ts";
import { CliError, fileFault, HalfDone } from "../exit.ts";
import { type Given, withValue } from "../option.ts";
import { counted } from "../output.ts";
import { settingHelp } from "../setting-help.ts";
import { type Acting, type Host, type Session } from "../session.ts";

type Options = Readonly<Record<string, string | readonly string[] | true | undefined>>;

/** Settings with an option. The rest serve workflow clients or have a command of their own. */
const settings = Object.keys(settingNames).filter(
  (name) => !/^(workflow|feature|telemetry|cron|scheduleId|queueName|hop|dryRun)/.test(name),
) as readonly (keyof typeof settingNames)[];

const dashed = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

const again = (name: string): Given => (/label$/i.test(name) ? "again" : "once");

export function withSettings(command: Command): Command {
  for (const name of settings)
    withValue(command, `--${dashed(name)} <value>`, settingHelp[name], again(name));
  withValue(
    command,
    "-H, --header <header>",
    { about: "A header for the destination", example: "X-Shop: north" },
    "again",
  );
  withValue(command, "-d, --data <body>", {
    about: "The body; @file reads it from a file, @- from stdin",
    example: '{"order":17}',
  });
  return withValue(command, "--content-type <type>", {
    about: "Media type of the body",
    fallback: "application/json where the body is JSON",
    example: "text/plain",
  });
}

const withEdit = (command: Command): Command =>
  command.option("--edit", "open the body in $EDITOR before it is sent");

/** Returns the publication without its destination. */
export async function publicationOf({ host }: Session, options: Options) {
  const given: Settings = Object.fromEntries(
    settings.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]])),
  );
  const written = await bodyOf(host, "--data", options["data"] as string | undefined);
  const body = options["edit"] === true ? await editedBody(host, written) : written;
  const contentType = (options["contentType"] as string | undefined) ?? typeOf(body);
  return {
    ...given,
    headers: headersOf((options["header"] as readonly string[] | undefined) ?? []),
    ...(body !== undefined && { body }),
    ...(contentType !== undefined && { contentType }),
  };
}

async function editedBody(host: Host, body: string | Uint8Array = ""): Promise<string> {
  const text = readableText(body);
  if (text === undefined) throw new CliError("usage", "--edit: the body is not text");
  return edited(host.env, text, isJson(text));
}

async function bodyOf(
  { interrupted, stdin }: Pick<Host, "interrupted" | "stdin">,
  /** The name of the option, for errors. */
  from: string,
  data: string | undefined,
): Promise<string | Uint8Array | undefined> {
  if (!data?.startsWith("@")) return data;
  if (data === "@-") return buffer(stdin.pipe(new PassThrough({ signal: interrupted })));
  try {
    return readFileSync(data.slice(1));
  } catch (error) {
    throw fileFault("usage", `${from}: ${data.slice(1)} cannot be read`, error);
  }
}

function typeOf(body: string | Uint8Array | undefined): string | undefined {
  const text = body === undefined ? undefined : readableText(body);
  return text !== undefined && isJson(text) ? "application/json" : undefined;
}

function headersOf(lines: readonly string[]): Readonly<Record<string, string>> {
  const headers = new Map<string, readonly [name: string, value: string]>();
  for (const line of lines) {
    const at = line.indexOf(":");
    if (at < 1)
      throw new CliError("usage", `--header: ${line} is not a header such as 'Name: value'`);
    const name = line.slice(0, at).trim();
    if (headers.has(name.toLowerCase()))
      throw new CliError("usage", `--header: ${name} must be given once`);
    headers.set(name.toLowerCase(), [name, line.slice(at + 1).trim()]);
  }
  return Object.fromEntries(headers.values());
}

type Published = { readonly messageId: string; readonly url?: string };

function say({ output }: Session, published: Published | readonly Published[]): void {
  output.rows("messageId" in published ? [published] : published, [
    ["message", ({ messageId }) => messageId],
    ["url", ({ url }) => url],
  ]);
}

export function addPublishing(program: Command, acting: Acting): void {
  withEdit(withSettings(program.command("publish <destination>")))
    .description("publish to a URL, or to each endpoint of a URL group")
    .action(
      acting<Options>(async (session, [to = ""], options) => {
        say(
          session,
          await session.client.publish({ to, ...(await publicationOf(session, options)) }),
        );
      }),
    );
  withEdit(withSettings(program.command("enqueue <queue> <destination>")))
    .description("publish through a queue, which is made if it does not exist")
    .action(
      acting<Options>(async (session, [queue = "", to = ""], options) => {
        const publication = await publicationOf(session, options);
        say(session, await session.client.enqueue({ to, queue, ...publication }));
      }),
    );
  program
    .command("batch <file>")
    .description(
      "publish the items of a JSON list, as in docs/batch.md, or one item on each line; - is stdin",
    )
    .action(
      acting(async (session, [file = ""]) => {
        const text = readableText((await bodyOf(session.host, "batch", `@${file}`)) ?? "");
        if (text === undefined) throw new CliError("usage", `batch: ${file} is not UTF-8`);
        if (text.trimStart().startsWith("[")) await publishList(session, text);
        else await publishLines(session, text);
      }),
    );
}

async function publishList(session: Session, text: string): Promise<void> {
  const published = await publishItems(session.client, text);
  if (published.length > 0 || session.output.isJson) say(session, published);
  else session.output.done("0 messages published: the list is empty");
}

async function publishItems(client: Client, items: string): Promise<readonly Published[]> {
  if (!isJson(items)) throw new CliError("usage", "batch: the list is not JSON");
  const asked = { body: items };
  const answers = (await client.call("publishBatch", asked as never)) as unknown as readonly (
    | Published
    | readonly Published[]
  )[];
  return answers.flat();
}

const linesAtOnce = 1_000;

/** Publishes any number of lines, a thousand in a request. */
async function publishLines(session: Session, text: string): Promise<void> {
  const lines = text.split("\n").map((line, at) => ({ line: line.trim(), number: at + 1 }));
  const items = lines.filter(({ line }) => line !== "");
  for (const { line, number } of items)
    if (!isJson(line)) throw new CliError("usage", `batch: line ${number} is not JSON`);
  const { host, output, patientClient } = session;
  for (let at = 0; at < items.length; at += linesAtOnce) {
    if (host.interrupted.aborted) {
      output.progressEnds();
      const published = `${counted(at, "line")} published, the rest was not sent`;
      throw new CliError("interrupted", `interrupted: ${published}`);
    }
    const some = items.slice(at, at + linesAtOnce).map(({ line }) => line);
    try {
      const published = await publishItems(patientClient, `[${some.join(",")}]`);
      if (output.isJson) for (const each of published) output.json(each);
    } catch (error) {
      output.progressEnds();
      throw at === 0 ? error : new HalfDone(`${counted(at, "line")} published`, error);
    }
    const sent = Math.min(at + linesAtOnce, items.length);
    output.progress(`${counted(sent, "line")} published`, sent / items.length);
  }
  output.progressEnds();
  if (!output.isJson) output.done(`${counted(items.length, "line")} published`);
}
