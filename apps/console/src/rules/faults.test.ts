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
  ])("%s is shown at the field that it names", (message, name) => {
    expect(faultsOf(message, fields)).toEqual({ errors: { [name]: message }, rest: undefined });
  });

  it("that names no field of the form is shown below all fields", () => {
    expect(faultsOf("too many queues", fields)).toEqual({ errors: {}, rest: "too many queues" });
    expect(faultsOf(undefined, fields)).toEqual({ errors: {}, rest: undefined });
  });
});
