/** `/v2/messages/{messageId}` (interface.md, Get a message; protocol/qstash.md §1.4). */
import { messageJson } from "@posthaste/contract";
import { fault, messageId } from "@posthaste/domain";
import { cancelMessages, type CancelPorts, readMessage } from "@posthaste/engine";
import { reply, type RoutedPath } from "@posthaste/runtime";
import { admitted, type Door } from "../door.ts";

export function messageRoutes(door: Door, ports: CancelPorts): readonly RoutedPath[] {
  return [
    {
      path: "/v2/messages/:messageId",
      methods: {
        GET: admitted(door, "read", async ({ tenant, param }) => {
          const id = param("messageId");
          const record = await readMessage(ports, tenant.id, messageId(id));
          return record
            ? reply(messageJson(record.message, { sha256: ports.sha256 }))
            : unknown(id);
        }),
        DELETE: admitted(door, "write", async ({ tenant, param }) => {
          const id = param("messageId");
          const canceled = await cancelMessages(ports, tenant.id, [messageId(id)]);
          return canceled.length > 0 ? reply({ cancelled: canceled.length }, 202) : unknown(id);
        }),
      },
    },
  ];
}

const unknown = (id: string) => fault("not_found", `message ${id.slice(0, 128)} not found`);
