import { type Fault, type Group, type PublishCommand } from "@posthaste/domain";
import { type AcceptPorts, type Published, publishToUrl } from "./accept.ts";
import { type PublishedGroup, publishToGroup } from "./group-publish.ts";

/**
 * Publishes a command. Returns the message of a URL, or the messages of a group. `head`: the group, where the caller has read it.
 * Rejects when the store does; the outcome is then unknown.
 */
export function publish(
  ports: AcceptPorts,
  command: PublishCommand,
  head?: Group,
): Promise<Published | PublishedGroup | Fault> {
  return command.destination.kind === "url"
    ? publishToUrl(ports, command, command.destination.url)
    : publishToGroup(ports, command, command.destination.name, head);
}
