import { describe, expect, it } from "@jest/globals";
import { type DestinationPolicy, destinationPolicy, isFault } from "@posthaste/domain";
import { destinationCheck } from "./destinations.ts";

function policyOf(settings: Parameters<typeof destinationPolicy>[0] = {}): DestinationPolicy {
  const policy = destinationPolicy(settings);
  if (isFault(policy)) throw new Error(policy.text);
  return policy;
}

/** A policy that counts how often it is asked. */
function counted(policy: DestinationPolicy): { policy: DestinationPolicy; readonly asked: number } {
  let asked = 0;
  return {
    policy: {
      ...policy,
      get anyPort() {
        asked += 1;
        return policy.anyPort;
      },
    },
    get asked() {
      return asked;
    },
  };
}

describe("the check of destinations at the door", () => {
  it("lets a public URL pass, and refuses one that the policy does, naming the field where it is no destination", () => {
    const check = destinationCheck(policyOf());
    const inside = "http://127.0.0.1/";

    expect(check("https://destination.example/hook", "destination")).toBeUndefined();
    const refused = check(inside, "destination");
    const callback = check(inside, "Service-Callback");

    expect(refused).toMatchObject({ fault: "malformed" });
    expect(callback).toEqual({
      fault: "malformed",
      text: `Service-Callback: ${refused?.text ?? ""}`,
    });
  });

  it("refuses a URL every time: only what was found fine is remembered", () => {
    const check = destinationCheck(policyOf());

    for (let i = 0; i < 3; i++) expect(check("http://10.0.0.1/", "destination")).toBeDefined();
  });

  it("judges a URL once while it is remembered, and remembers ten thousand at the most", () => {
    const watched = counted(policyOf());
    const check = destinationCheck(watched.policy);
    const url = (i: number): string => `https://destination.example:8080/${i}`;

    check(url(0), "destination");
    const once = watched.asked;
    check(url(0), "destination");
    expect(watched.asked).toBe(once);
    for (let i = 1; i <= 10_000; i++) check(url(i), "destination");
    const before = watched.asked;
    check(url(0), "destination");

    expect(once).toBeGreaterThan(0);
    expect(watched.asked).toBeGreaterThan(before);
  });
});
