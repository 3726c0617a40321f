import { expect, it } from "@jest/globals";
import { isRefusal } from "./refusal.ts";

const withType = (type: string, cause?: unknown): Error =>
  Object.assign(new Error(type, { cause }), { type });

it("content that the broker does not take is a refusal, however deep it is wrapped", () => {
  const refusal = withType("MESSAGE_TOO_LARGE");

  expect(isRefusal(refusal)).toBe(true);
  expect(isRefusal(new Error("retries exceeded", { cause: refusal }))).toBe(true);
});

it("an error that another try may fix is no refusal, even if the client calls it non-retriable", () => {
  const refused = new Error("connect ECONNREFUSED");
  const wrapped = Object.assign(new Error("non-retriable", { cause: refused }), {
    retriable: false,
  });

  expect(isRefusal(wrapped)).toBe(false);
  expect(isRefusal(withType("NOT_LEADER_FOR_PARTITION"))).toBe(false);
  expect(isRefusal("no error at all")).toBe(false);
});

it("an error that is its own cause is read once", () => {
  const error = new Error("round");
  error.cause = error;

  expect(isRefusal(error)).toBe(false);
});
