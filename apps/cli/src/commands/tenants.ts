/** The operator's commands: tenants and their tokens. */
import { type Tenant, type Token } from "@posthaste/client";
import { type Command } from "commander";
import { CliError } from "../exit.ts";
import { timeIn } from "../filters.ts";
import { withValue } from "../option.ts";
import { type Column, timeOf } from "../output.ts";
import { type Acting } from "../session.ts";
import { addWholeAudit } from "./audit.ts";

const tenantColumns: readonly Column<Tenant>[] = [
  ["tenant", ({ id }) => id],
  ["prefix", ({ dialect }) => (dialect === "service" ? "Service-" : "Upstash-")],
  ["messages a day", ({ plan }) => plan.messagesPerDayMax],
];
const tokenColumns: readonly Column<Token>[] = [
  ["token", ({ id }) => id],
  ["name", ({ name = "" }) => name],
  ["scope", ({ scope }) => scope],
  ["made", ({ createdAt }) => timeOf(createdAt)],
  ["expires", ({ expiresAt }) => timeOf(expiresAt)],
  ["last used", ({ lastUsedAt }) => timeOf(lastUsedAt)],
];

export function addTenants(program: Command, acting: Acting): void {
  const tenants = program
    .command("tenants")
    .description("tenants and their tokens, for the operator");
  tenants
    .command("ls")
    .description("list the tenants")
    .action(
      acting(async ({ management, output }) =>
        output.rows(await management.tenants.list(), tenantColumns),
      ),
    );
  tenants
    .command("show <tenant>")
    .description("show a tenant with its plan")
    .action(
      acting(async ({ management, output }, [id = ""]) =>
        output.item(await management.tenants.read(id)),
      ),
    );
  tenants
    .command("create <tenant>")
    .description("make a tenant with the default plan")
    .action(
      acting(async ({ management, output }, [id = ""]) =>
        output.item(await management.tenants.create({ body: { id } })),
      ),
    );
  tenants
    .command("close <tenant>")
    .description("close a tenant and remove its data")
    .option("--yes", "do it")
    .action(
      acting<{ yes?: true }>(async ({ management, output }, [id = ""], { yes }) => {
        if (!yes) throw new CliError("usage", `${id} cannot be restored afterwards: add --yes`);
        await management.tenants.close(id);
        output.done(`${id} closed`, { id, closed: true });
      }),
    );
  addWholeAudit(tenants, acting);
  addTokens(tenants, acting);
}

function addTokens(tenants: Command, acting: Acting): void {
  tenants
    .command("tokens <tenant>")
    .description("list the tokens of a tenant")
    .action(
      acting(async ({ management, output }, [id = ""]) =>
        output.rows(await management.tokens.list(id), tokenColumns),
      ),
    );
  addTokenMaking(tenants, acting);
  tenants
    .command("revoke <tenant> <token>")
    .description("revoke a token by its id")
    .action(
      acting(async ({ management, output }, [tenant = "", token = ""]) => {
        await management.tokens.revoke(tenant, token);
        output.done(`${token} revoked`, { id: token, revoked: true });
      }),
    );
}

type TokenOptions = {
  readonly read?: true;
  readonly operate?: true;
  readonly publish?: true;
  readonly queue?: string;
  readonly name?: string;
  readonly expires?: string;
};

function addTokenMaking(tenants: Command, acting: Acting): void {
  const command = tenants
    .command("token <tenant>")
    .description(
      "make a token, which is shown only once; its scope is full unless an option narrows it",
    )
    .option("--read", "may read all but the signing keys, and change nothing")
    .option("--operate", "may read, retry, pause, resume and cancel")
    .option("--publish", "may publish and start runs, and read nothing");
  withValue(command, "--queue <queue>", {
    about: "May only use operations with this queue in the path",
    example: "emails",
  });
  withValue(command, "--name <name>", { about: "Name of the token", example: "shop" });
  withValue(command, "--expires <time>", {
    about: "Time from which the token is refused: a date, or Unix milliseconds",
    fallback: "never",
    example: "2027-01-31T12:00:00Z",
  });
  command.action(
    acting<TokenOptions>(async ({ management, output }, [id = ""], options) => {
      const { name, expires } = options;
      const body = {
        scope: scopeOf(options),
        ...(name !== undefined && { name }),
        ...(expires !== undefined && { expiresAt: Number(timeIn("--expires", expires)) }),
      };
      output.item(await management.tokens.create(id, { body }));
    }),
  );
}

function scopeOf({ read, operate, publish, queue }: TokenOptions): Token["scope"] {
  const scopes: readonly Token["scope"][] = [
    ...(read ? ["read" as const] : []),
    ...(operate ? ["operate" as const] : []),
    ...(publish ? ["publish" as const] : []),
    ...(queue === undefined ? [] : [`queue:${queue}` as const]),
  ];
  if (scopes.length > 1)
    throw new CliError("usage", "one of --read, --operate, --publish and --queue");
  return scopes[0] ?? "full";
}
