/** The audit log: of the tenant, and of the installation for the operator. */
import { type Change } from "@posthaste/client";
import { type Command } from "commander";
import { countOf } from "../filters.ts";
import { withLimit } from "../listing.ts";
import { type Column, timeOf } from "../output.ts";
import { type Acting } from "../session.ts";

const columns: readonly Column<Change>[] = [
  ["time", ({ at }) => timeOf(at)],
  ["by", ({ by: { kind, id, name, role } }) => `${role ?? kind} ${name ?? id}`],
  ["did", ({ operation }) => operation],
  ["to", ({ resource }) => resource],
  ["result", ({ result }) => result],
  ["from", ({ address = "" }) => address],
];
const ofTenantColumn: Column<Change> = ["tenant", ({ tenant = "" }) => tenant];

type Limit = { readonly limit: string };

export function addAudit(program: Command, acting: Acting): void {
  withLimit(program.command("audit"))
    .description("list the changes made to the tenant, the latest first")
    .action(
      acting<Limit>(async ({ client, output }, _, { limit }) => {
        const { changes } = await client.audit.list({ query: { count: countOf(limit) } });
        output.rows(changes, columns);
      }),
    );
}

export function addWholeAudit(tenants: Command, acting: Acting): void {
  withLimit(tenants.command("audit [tenant]"))
    .description("list the changes made by tenants and operators, the latest first")
    .action(
      acting<Limit>(async ({ management, output }, [tenant], { limit }) => {
        const query = { count: countOf(limit), ...(tenant !== undefined && { tenant }) };
        const { changes } = await management.audit.list({ query });
        output.rows(changes, [...columns, ofTenantColumn]);
      }),
    );
}
