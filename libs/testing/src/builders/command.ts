import { type PublishCommand } from "@posthaste/domain";
import { aPolicy, aTenant } from "./message.ts";

/** A valid publish to a URL. */
export const aCommand = (overrides: Partial<PublishCommand> = {}): PublishCommand => ({
  tenant: aTenant,
  dialect: "service",
  destination: { kind: "url", url: "https://destination.example/hook" },
  method: "POST",
  headers: [["Content-Type", "text/plain"]],
  body: new TextEncoder().encode("hello"),
  policy: aPolicy(),
  callerIp: "203.0.113.7",
  hop: 0,
  ...overrides,
});
