import { expect, it } from "@jest/globals";
import { isRefusal, missingRight } from "./refusal.ts";

const withType = (type: string, cause?: unknown): Error =>
  Object.assign(new Error(type, { cause }), { type });

it("content that the broker does not take is a refusal, however deep it is wrapped", () => {
  const refusal = withType("MESSAGE_TOO_LARGE");

  expect(isRefusal(refusal)).toBe(true);
  expect(isRefusal(new Error("retries exceeded", { cause: refusal }))).toBe(true);
});

it("what another try may mend is none, also where the client calls it non-retriable", () => {
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

it.each([
  ["GROUP_AUTHORIZATION_FAILED", ["t"], "g", "there is no right to be in the group g"],
  ["TOPIC_AUTHORIZATION_FAILED", ["t"], "g", "there is no right to read the topic t"],
  ["TOPIC_AUTHORIZATION_FAILED", ["t"], undefined, "there is no right to write to the topic t"],
  ["TOPIC_AUTHORIZATION_FAILED", ["t", "u"], undefined, "to write to one of the topics t, u"],
  ["CLUSTER_AUTHORIZATION_FAILED", ["t"], undefined, "IdempotentWrite"],
])("a right that is missing is told by name: %s of %j, %s", (type, topics, group, said) => {
  const error = new Error("retries exceeded", { cause: withType(type) });

  expect(missingRight(error, { topics, ...(group !== undefined && { group }) })).toContain(said);
  expect(missingRight(withType("NOT_LEADER_FOR_PARTITION"), { topics })).toBeUndefined();
});
