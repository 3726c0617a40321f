import { describe, expect, it } from "@jest/globals";
import { type DestinationPolicy, destinationPolicy, isFault } from "@posthaste/domain";
import { urlReader } from "./parse-context.ts";

function policyOf(settings: Parameters<typeof destinationPolicy>[0] = {}): DestinationPolicy {
  const policy = destinationPolicy(settings);
  if (isFault(policy)) throw new Error(policy.text);
  return policy;
}

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

describe("the URLs that callers name", () => {
  it("are returned in the form that is called, or refused by the policy with the name of the field unless it is the destination", () => {
    const read = urlReader(policyOf());
    const inside = "http://127.0.0.1/";

    expect(read("https://destination.example/ü", "destination")).toBe(
      "https://destination.example/%C3%BC",
    );
    const refused = read(inside, "destination");
    const callback = read(inside, "Service-Callback");

    expect(refused).toMatchObject({ fault: "malformed" });
    expect(callback).toMatchObject({
      text: `Service-Callback: ${isFault(refused) ? refused.text : ""}`,
    });
  });

  it("refuses a URL every time: only allowed URLs are remembered", () => {
    const read = urlReader(policyOf());

    for (let i = 0; i < 3; i++)
      expect(read("http://10.0.0.1/", "destination")).toHaveProperty("fault");
  });

  it("are checked once while they are remembered, ten thousand at most", () => {
    const watched = counted(policyOf());
    const read = urlReader(watched.policy);
    const url = (i: number): string => `https://destination.example:8080/${i}`;

    read(url(0), "destination");
    const once = watched.asked;
    read(url(0), "destination");
    expect(watched.asked).toBe(once);
    for (let i = 1; i <= 10_000; i++) read(url(i), "destination");
    const before = watched.asked;
    read(url(0), "destination");

    expect(once).toBeGreaterThan(0);
    expect(watched.asked).toBeGreaterThan(before);
  });
});
