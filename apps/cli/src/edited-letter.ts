/** The body of a dead letter, for an editor. */
import { type DeadLetter } from "@posthaste/client";
import { CliError } from "./exit.ts";

const redacted = "REDACTED:";

/** What is redacted is the destination's alone, and an editor shows text alone. */
export function editableBody({ body = "", bodyBase64 }: DeadLetter): string {
  if (body.startsWith(redacted))
    throw new CliError("usage", "--edit: its body is redacted, and cannot be edited");
  if (bodyBase64 !== undefined) throw new CliError("usage", "--edit: its body is no text");
  return body;
}
