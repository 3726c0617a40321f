/** The audit log in both APIs. */
import { type Fault, isFault, operatorRoles } from "@posthaste/domain";
import * as z from "zod";
import { parameterFault, readQuery, single } from "./queries/query-values.ts";
import { type QueryRow } from "./endpoints/endpoint.ts";
import { cursorShape, type JsonOf, millisecondsShape } from "./representations/schemas.ts";
import { isTenantId } from "./wire/text.ts";

const changeSchema = z
  .object({
    id: z.string(),
    at: millisecondsShape,
    tenant: z.string().optional().describe("Absent if no tenant is concerned"),
    by: z
      .object({
        kind: z.enum(["token", "group", "operator"]),
        id: z
          .string()
          .describe("The id of the token, the group of the provider, or the operator's user"),
        name: z.string().optional().describe("The name of the token"),
        role: z.enum(operatorRoles).optional().describe("The role of the operator"),
        session: z.string().optional().describe("The beginning of the id of the console's session"),
      })
      .describe("The author of the change"),
    operation: z.string().describe("The operationId, or signIn and signOut of the console"),
    resource: z.string().describe("The path, without its query"),
    result: z
      .string()
      .describe(
        "done, or the code of the fault; unknown while the change is under way, or if the process died before its end",
      ),
    address: z
      .string()
      .optional()
      .describe("The address of the caller; a tenant is not shown the operator's"),
  })
  .meta({ id: "Change" });

export const changesSchema = z.object({ cursor: cursorShape, changes: z.array(changeSchema) });
type ChangesJson = JsonOf<typeof changesSchema>;
type ChangeJson = JsonOf<typeof changeSchema>;

/** An entry of the audit log, without its expiry. */
type AuditedChange = Omit<ChangeJson, "result" | "address"> & {
  readonly address: string;
  readonly result?: string;
};

type AuditQuery = {
  readonly limit: number;
  readonly before?: string;
  readonly tenant?: string;
};

const countDefault = 100;
const countMax = 1_000;
const ownNames = new Set(["cursor", "count"]);
const allNames = new Set([...ownNames, "tenant"]);

export const ownAuditQuery: QueryRow<AuditQuery> = {
  names: ownNames,
  parse: (text) => parse(text, ownNames),
};
export const wholeAuditQuery: QueryRow<AuditQuery> = {
  names: allNames,
  parse: (text) => parse(text, allNames),
};

const placeForm = /^aud_[0-9a-z]{9}[0-9A-Za-z]{1,32}$/;

function parse(search: string, names: ReadonlySet<string>): AuditQuery | Fault {
  const values = readQuery(search, names);
  if (isFault(values)) return values;
  const cursor = single(values, "cursor");
  if (isFault(cursor)) return cursor;
  if (cursor !== undefined && !placeForm.test(cursor))
    return parameterFault("cursor", "must be the cursor of the previous page");
  const count = single(values, "count") ?? String(countDefault);
  if (isFault(count)) return count;
  const limit = /^\d{1,4}$/.test(count) ? Number(count) : 0;
  if (limit < 1 || limit > countMax)
    return parameterFault("count", `must be a whole number from 1 to ${countMax}`);
  const tenant = single(values, "tenant");
  if (isFault(tenant)) return tenant;
  if (tenant !== undefined && !isTenantId(tenant))
    return parameterFault("tenant", "must be 1 to 64 letters, digits, '-' and '_'");
  return {
    limit,
    ...(cursor !== undefined && { before: cursor }),
    ...(tenant !== undefined && { tenant }),
  };
}

/** `entries`: one more than `limit` if there is a next page. A tenant is not shown the addresses of operators. */
export function changesJson(
  entries: readonly AuditedChange[],
  limit: number,
  showsOperators: boolean,
): ChangesJson {
  const changes = entries.slice(0, limit).map((entry) => changeJson(entry, showsOperators));
  const last = changes.at(-1);
  return { ...(entries.length > limit && last && { cursor: last.id }), changes };
}

function changeJson(
  { id, at, tenant, by, operation, resource, result, address }: AuditedChange,
  showsOperators: boolean,
): ChangeJson {
  const { kind, name, role, session } = by;
  return {
    id,
    at,
    ...(tenant !== undefined && { tenant }),
    by: {
      kind,
      id: by.id,
      ...(name !== undefined && { name }),
      ...(role !== undefined && { role }),
      ...(session !== undefined && { session }),
    },
    operation,
    resource,
    result: result ?? "unknown",
    ...((showsOperators || kind !== "operator") && { address }),
  };
}
