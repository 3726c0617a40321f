/** The provider behind `api/llm`: gateways know its address, deliverers its key. */
import { z } from "zod";
import { variables } from "./variable.ts";
import { printable } from "./values.ts";

const subject = "LLM";

export const llmShape = {
  llmUrl: z
    .string()
    .regex(/^https?:\/\/[\x21-\x22\x24-\x7e]{1,2000}$/)
    .optional()
    .register(variables, {
      subject,
      rule: "an http or https URL without a fragment",
      summary:
        "Where messages to the destination api/llm go: the chat completions of a provider. Not set: such a publish is refused.",
    }),
};

export const llmKeyShape = {
  llmKey: printable(1, 4_096).optional().register(variables, {
    subject,
    secret: true,
    rule: "1 to 4096 printable characters without spaces",
    summary:
      "Sent to the provider as a bearer token, unless the message forwards an Authorization of its own.",
  }),
};
