import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { eventTarget } from "./event-targets.ts";

const namesIn = (target: string | undefined) =>
  target?.split("?")[0]?.split("/").slice(3).map(decodeURIComponent);

describe("the name of an event", () => {
  it.each([
    ["approved", "approved"],
    ["50%", "50%"],
    ["50%25", "50%"],
    ["%E0%A4%A", "%E0%A4%A"],
    ["a%20b", "a b"],
    ["order/17", "order/17"],
    ["order%2F17", "order/17"],
    ["order/", "order/"],
    ["ready?", "ready?"],
    ["ready?yes=1&qstash_token=t&no", "ready?yes=1&no"],
    ["..", ".."],
  ])("is all that follows: %s", (text, name) => {
    for (const kind of ["wait", "waiters"])
      expect(namesIn(eventTarget(`/v2/${kind}/${text}`))).toEqual([name]);
  });

  it("may be of one run, which is the text before its first slash", () => {
    expect(namesIn(eventTarget("/v2/notify/wfr_1/a%/b?c"))).toEqual(["wfr_1", "a%/b?c"]);
    expect(namesIn(eventTarget("/v2/notify/a?b/c"))).toEqual(["a?b/c"]);
    expect(namesIn(eventTarget("/v2/notify/a/"))).toEqual(["a/"]);
  });

  it("leaves the caller's token in the query", () => {
    expect(eventTarget("/v2/notify/a?qstash_token=t")).toBe("/v2/notify/a?qstash_token=t");
  });

  it("is found in every target of an event, and in no other", () => {
    for (const other of ["/v2/wait/", "/v2/wait", "/v2/publish/wait/a", "/v2/waiters?a"])
      expect(eventTarget(other)).toBeUndefined();
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), (name) => {
        const escaped = encodeURIComponent(name.toWellFormed());
        expect(namesIn(eventTarget(`/V2/wait/${escaped}`))).toEqual([name.toWellFormed()]);
      }),
    );
  });
});
