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
        "The URL for messages to the destination api/llm: the chat completions of a provider. Not set: a publish to api/llm is refused.",
    }),
};

export const llmKeyShape = {
  llmKey: printable(1, 4_096, {
    subject,
    secret: true,
    summary:
      "The bearer token sent to the provider, unless the message forwards its own Authorization.",
  }).optional(),
};
