/** `/v2/dlq`: dead letters (protocol/qstash.md §1.8). */
import { deadLetterJson, deadLetterPageJson, parseDeadLetterQuery } from "@posthaste/contract";
import { type DlqId, dlqId, fault, type Fault, isFault, type Sha256Hex } from "@posthaste/domain";
import { type DeadLetters } from "@posthaste/ports";
import { emptyReply, reply, type RoutedPath } from "@posthaste/runtime";
import { admitted, type Door } from "../door.ts";
import { type Paging } from "../paging.ts";

export type DeadLetterParts = {
  readonly deadLetters: DeadLetters;
  readonly paging: Paging;
  readonly sha256: Sha256Hex;
};

export function deadLetterRoutes(
  door: Door,
  { deadLetters, paging, sha256 }: DeadLetterParts,
): readonly RoutedPath[] {
  return [
    {
      path: "/v2/dlq",
      methods: {
        GET: admitted(door, "list", async ({ tenant, search }) => {
          const query = parseDeadLetterQuery(search);
          if (isFault(query)) return query;
          const scope = { tenant: tenant.id, list: "dlq", filter: query.filter };
          const page = paging.open(scope, query.page);
          if (isFault(page)) return page;
          const { items, next } = await deadLetters.list(tenant.id, query.filter, page);
          const view = { sha256, bodyBytesMax: query.page.bodyBytesMax };
          return reply(
            deadLetterPageJson(
              items.map((letter) => deadLetterJson(letter, view)),
              paging.seal(scope, next),
            ),
          );
        }),
      },
    },
    {
      path: "/v2/dlq/:dlqId",
      methods: {
        GET: admitted(door, "read", async ({ tenant, param }) => {
          const id = dlqId(param("dlqId"));
          const letter = await deadLetters.get(tenant.id, id);
          return letter ? reply(deadLetterJson(letter, { sha256 })) : unknown(id);
        }),
        DELETE: admitted(door, "write", async ({ tenant, param }) => {
          const id = dlqId(param("dlqId"));
          return (await deadLetters.remove(tenant.id, [id])) > 0 ? emptyReply() : unknown(id);
        }),
      },
    },
  ];
}

const unknown = (id: DlqId): Fault =>
  fault("not_found", `dead letter ${id.slice(0, 128)} not found`);
