import { describe, expect, it } from "@jest/globals";
import { faultsOf } from "./faults.ts";

const fields = [
  { name: "callback", sentAs: "Service-Callback" },
  { name: "callbackRetries", sentAs: "Service-Callback-Retries" },
  { name: "url", sentAs: "endpoints[0].url" },
  { name: "cron" },
];

describe("a refusal", () => {
  it.each([
    ["Service-Callback-Retries: must be an integer", "callbackRetries"],
    ["service-callback: must be a URL", "callback"],
    ["endpoints[0].url: must be a URL", "url"],
    ["the header Service-Cron: must have five fields", "cron"],
  ])("%s stands at the field that it names", (message, name) => {
    expect(faultsOf(message, fields)).toEqual({ errors: { [name]: message }, rest: undefined });
  });

  it("about no field of the form stands below all", () => {
    expect(faultsOf("too many queues", fields)).toEqual({ errors: {}, rest: "too many queues" });
    expect(faultsOf(undefined, fields)).toEqual({ errors: {}, rest: undefined });
  });
});
