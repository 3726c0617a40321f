import { type DeadLetter } from "@posthaste/client";
import { CliError } from "./exit.ts";

const redacted = "REDACTED:";

/** Returns the body as text. Refuses a redacted body, which only the destination may see, and a binary one. */
export function editableBody({ body = "", bodyBase64 }: DeadLetter): string {
  if (body.startsWith(redacted))
    throw new CliError("usage", "--edit: the body is redacted, and cannot be edited");
  if (bodyBase64 !== undefined) throw new CliError("usage", "--edit: the body is not text");
  return body;
}
