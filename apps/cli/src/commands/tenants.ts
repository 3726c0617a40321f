/** The operator's commands: tenants and their tokens. */
import { type Tenant, type Token } from "@posthaste/client";
import { type Command } from "commander";
import { CliError } from "../exit.ts";
import { type Column, timeOf } from "../output.ts";
import { type Acting } from "../session.ts";

const tenantColumns: readonly Column<Tenant>[] = [
  ["tenant", ({ id }) => id],
  ["prefix", ({ dialect }) => (dialect === "service" ? "Service-" : "Upstash-")],
  ["messages a day", ({ plan }) => plan.messagesPerDayMax],
];
const tokenColumns: readonly Column<Token>[] = [
  ["token", ({ id }) => id],
  ["scope", ({ scope }) => scope],
  ["made", ({ createdAt }) => timeOf(createdAt)],
];

export function addTenants(program: Command, acting: Acting): void {
  const tenants = program
    .command("tenants")
    .description("tenants and their tokens: the operator's");
  tenants
    .command("ls")
    .description("all of them")
    .action(
      acting(async ({ management, output }) =>
        output.rows(await management.tenants.list(), tenantColumns),
      ),
    );
  tenants
    .command("show <tenant>")
    .description("a tenant with its plan")
    .action(
      acting(async ({ management, output }, [id = ""]) =>
        output.item(await management.tenants.read(id)),
      ),
    );
  tenants
    .command("create <tenant>")
    .description("a tenant with the default plan")
    .action(
      acting(async ({ management, output }, [id = ""]) =>
        output.item(await management.tenants.create({ body: { id } })),
      ),
    );
  tenants
    .command("close <tenant>")
    .description("it ends with all that is its own")
    .option("--yes", "do it")
    .action(
      acting<{ yes?: true }>(async ({ management, output }, [id = ""], { yes }) => {
        if (!yes) throw new CliError("usage", `nothing of ${id} could be had back: add --yes`);
        await management.tenants.close(id);
        output.done(`${id} closed`, { id, closed: true });
      }),
    );
  addTokens(tenants, acting);
}

function addTokens(tenants: Command, acting: Acting): void {
  tenants
    .command("tokens <tenant>")
    .description("its tokens")
    .action(
      acting(async ({ management, output }, [id = ""]) =>
        output.rows(await management.tokens.list(id), tokenColumns),
      ),
    );
  tenants
    .command("token <tenant>")
    .description("a new token, which is shown this once")
    .option("--read", "it may change nothing")
    .action(
      acting<{ read?: true }>(async ({ management, output }, [id = ""], { read }) =>
        output.item(
          await management.tokens.create(id, { body: { scope: read ? "read" : "full" } }),
        ),
      ),
    );
  tenants
    .command("revoke <tenant> <token>")
    .description("a token by its id")
    .action(
      acting(async ({ management, output }, [tenant = "", token = ""]) => {
        await management.tokens.revoke(tenant, token);
        output.done(`${token} revoked`, { id: token, revoked: true });
      }),
    );
}
