import { expect, it } from "@jest/globals";
import { type Outcome } from "@posthaste/domain";
import { aborted, aClaimedRecord, anAnswer, aTimeout, epochStart } from "@posthaste/testing";
import { systemClock } from "@posthaste/process";
import { failureLine, printFailures } from "./failures.ts";

const record = aClaimedRecord({ retried: 1, url: "https://shop.example/orders" });
const held = { kind: "held", dueAt: epochStart + 12_400 } as const;
const failed = { kind: "failed", endedAt: epochStart } as const;
const start = `  failed  POST https://shop.example/orders  ${record.message.id}  retried 1  → `;

it.each<[string, Outcome, typeof held | typeof failed]>([
  ["no answer within 60000 ms, again in 12 s", aTimeout, held],
  ["500 no such order, and no retry is left", anAnswer(500, { body: " no\nsuch order" }), failed],
  ["404, again in 12 s", anAnswer(404), held],
  [`500 ${"x".repeat(200)}, again in 12 s`, anAnswer(500, { body: "x".repeat(300) }), held],
  ["500 a??[2Jb, again in 12 s", anAnswer(500, { body: "a\u009b\u001b[2Jb" }), held],
])("a failed delivery is a line with its reason: %s", (said, outcome, next) => {
  expect(failureLine({ record, outcome, next }, epochStart)).toMatch(/^\d\d:\d\d:\d\d\.\d{3} /);
  expect(failureLine({ record, outcome, next }, epochStart).slice(12)).toBe(start + said);
});

it("the answer to a redacted body is not printed", () => {
  const { policy } = record.message;
  const redacted = { ...policy, redaction: { body: true, headers: [] } };
  const hidden = { ...record, message: { ...record.message, policy: redacted } };
  const outcome = anAnswer(500, { body: "secret" });

  expect(failureLine({ record: hidden, outcome, next: failed }, epochStart)).toMatch(/→ 500, and/);
});

it("an attempt cut short by this process is not reported as failed", () => {
  const lines: string[] = [];
  const print = printFailures(systemClock(), (line) => lines.push(line));
  print({ record, outcome: aborted, next: held });
  print({ record, outcome: aTimeout, next: held });

  expect(lines).toHaveLength(1);
});
