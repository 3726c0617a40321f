import { describe, expect, it } from "@jest/globals";
import { type Redaction } from "@posthaste/domain";
import { attemptErrorText } from "./attempt-error.ts";

const url = "http://shop.example/orders?key=1";
const textOf = (status: number, location: string, redaction?: Redaction): string | undefined =>
  attemptErrorText({ response: { status, headers: [["LOCATION", location]] } }, url, redaction);

describe("the error of an attempt", () => {
  it.each([
    [301, "https://shop.example/orders", "https://shop.example/orders"],
    [302, "/orders/", "http://shop.example/orders/"],
    [303, "//www.shop.example/a", "http://www.shop.example/a"],
    [307, "there", "http://shop.example/there"],
    [308, "https://user:secret@shop.example:8443/a?token=secret#secret", "https://shop.example:8443/a"],
    [302, "https://shop.example/a b\u0001\u00e9<script>", "https://shop.example/a%20b%01%C3%A9%3Cscript%3E"],
    [302, "?token=secret", "http://shop.example/orders"],
    [302, "", "http://shop.example/orders"],
  ])("of a %i to %j says that it points to %s", (status, location, place) => {
    expect(textOf(status, location)).toBe(`redirects are not followed: ${status} to ${place}`);
  }); // oxfmt-ignore

  it("of a redirect to a long URL is cut", () => {
    const text = textOf(302, `https://shop.example/${"x".repeat(10_000)}`);

    expect(text).toMatch(/^redirects are not followed: 302 to https:\/\/shop\.example\/x+…$/);
    expect(text?.length).toBeLessThan(300);
  });

  it("of a redirect omits a Location that is no URL, or that the caller has hidden", () => {
    const hides = (headers: Redaction["headers"]): Redaction => ({ body: false, headers });

    expect(textOf(302, "http://[")).toBe("redirects are not followed: 302");
    expect(textOf(302, "/secret", hides(["location"]))).toBe("redirects are not followed: 302");
    expect(textOf(302, "/secret", hides("all"))).toBe("redirects are not followed: 302");
    expect(textOf(302, "/there", hides(["x-other"]))).toContain("/there");
  });

  it.each([
    [200, "/a"],
    [500, "/a"],
  ])("is absent for a %i with a Location", (status, location) => {
    expect(textOf(status, location)).toBeUndefined();
  });

  it("is absent for a redirect without a destination", () => {
    expect(
      attemptErrorText({ response: { status: 304, headers: [] } }, url, undefined),
    ).toBeUndefined();
  });

  it("is the stored error, if there is one", () => {
    expect(attemptErrorText({ error: "no answer" }, url, undefined)).toBe("no answer");
  });
});
