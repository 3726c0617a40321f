/** Prints each failed delivery of a development server: its destination, the reason, and the time of the retry. */
import { type FailedAttempt } from "@posthaste/deliverer";
import { type Outcome, type Redaction, untilMs } from "@posthaste/domain";
import { type Clock } from "@posthaste/ports";
import { printedLine, visible } from "./printed-line.ts";

export function printFailures(
  clock: Clock,
  print: (line: string) => void = (line) => void process.stdout.write(`${line}\n`),
): (failed: FailedAttempt) => void {
  return (failed) => {
    // An aborted attempt belongs to a cancelled message, or to one that this process hands back.
    if (failed.outcome.kind !== "aborted") print(failureLine(failed, clock.now()));
  };
}

export function failureLine({ next, outcome, record }: FailedAttempt, now: number): string {
  const { message, retried } = record;
  const reason = reasonOf(outcome, message.policy.redaction);
  return printedLine(now, "failed", [
    `${message.method} ${visible(message.url)}`,
    message.id,
    `retried ${retried}`,
    `→ ${reason}${afterwards(next, now)}`,
  ]);
}

function reasonOf(outcome: Outcome, redaction: Redaction | undefined): string {
  if (outcome.kind === "aborted") return "aborted";
  if (outcome.kind !== "answered") return visible(outcome.text);
  const body = redaction?.body ? "" : new TextDecoder().decode(outcome.body);
  const text = visible(body.trim().replaceAll(/\s+/g, " "));
  return text === "" ? `${outcome.status}` : `${outcome.status} ${text}`;
}

function afterwards(next: FailedAttempt["next"], now: number): string {
  if (next.kind === "failed") return ", and no retry is left";
  if (next.kind !== "held") return "";
  return `, again in ${Math.round(untilMs(next.dueAt, Infinity, now) / 1_000)} s`;
}
