/** Tests the lint rule of ADR 120 over short sources. */
import { describe, expect, it } from "@jest/globals";
import { lint } from "./lint.fixture.ts";

type Case = readonly [name: string, source: string];

const differences: readonly Case[] = [
  ["of two readings", "const began = clock.now(); work(); const ms = clock.now() - began;"],
  ["of a reading and a time", "const ageMs = now - record.endedAt;"],
  [
    "of a time and a reading",
    "class A { #clock; waitMs(dueAt) { return Math.max(0, dueAt - this.#clock.now()); } }",
  ],
  ["of the process' own clock", "const ms = Date.now() - at;"],
  ["of what is called now", "const ageOf = (at: number, now: number) => now - at;"],
  ["of a field called now", "const ms = judges.now - arrivedAt;"],
  ["through another name", "const time = now(); const later = time; const ms = later - at;"],
  ["of two names", "const a = clock.now(); const b = clock.now(); const ms = b - a;"],
  ["of a bound", "const ms = Math.max(now(), 5) - at;"],
  ["of a sum", "const ms = now + lengthMs - at;"],
  ["of a choice", "const ms = (to ?? now) - hourMs;"],
  ["with a length: a cut-off", "sweep(clock.now() - keptMs);"],
  ["that is assigned", "let ms = until; ms -= clock.now();"],
  [
    "through a private field",
    "class A { #at = 0; mark(c) { this.#at = c.now(); } ms(end) { return end - this.#at; } }",
  ],
  ["through a cast", "const ms = (now as number) - at;"],
];

const sums: readonly Case[] = [
  ["of a time and a length", "if (clock.now() < endedAt + timeoutMs) hold();"],
  ["on its left", "if (usedAt + keptMs <= now) remove();"],
  ["within a bound", "if (now >= Math.max(a, b + windowMs)) forgive();"],
  ["that is a deadline", "const until = clock.now() + ms; while (clock.now() < until) work();"],
  [
    "that a private field keeps",
    "class A { #until = 0; arm(c) { this.#until = c.now() + 5; } isOver(c) { return this.#until < c.now(); } }",
  ],
  ["of the reading itself", "if (at > now + lengthMs) late();"],
];

const passing: readonly Case[] = [
  [
    "a difference of passedMs",
    "const began = clock.passedMs(); const ms = clock.passedMs() - began;",
  ],
  [
    "a name for passedMs",
    "class A { #at = 0; f(clock) { const now = clock.passedMs(); if (now - this.#at > 5) look(); } }",
  ],
  ["performance.now", "const ms = performance.now() - begunAt;"],
  ["a time to store", "const dueAt = clock.now() + delayMs;"],
  ["whether a time has come", "if (record.dueAt <= clock.now()) ring();"],
  ["the helpers", "if (isOver(endedAt + ms, ms, clock.now())) sweep(cutOff(keptMs, now));"],
  ["an order of times", "rows.sort((a, b) => a.createdAt - b.createdAt);"],
];

const pathOf = (source: string): string =>
  `libs/sender/src/case-${all.findIndex((each) => each[1] === source)}.ts`;
const all = [...differences, ...sums, ...passing];
const found = lint(new Map(all.map(([, source]) => [pathOf(source), source])));

/** Returns the first words of the rule's findings, and of errors that keep the source from being parsed. */
const refused = (source: string): readonly (string | undefined)[] =>
  found(pathOf(source))
    .filter(({ rule }) => rule === "posthaste/wall-clock" || rule === undefined)
    .map(({ message }) => message.split(":")[0]);

describe("a difference of readings of a wall clock is refused", () => {
  it.each(differences)("%s", (_, source) => {
    expect(refused(source)).toContain("A wall clock may be set");
  });
});

describe("a reading that is compared with a sum is refused", () => {
  it.each(sums)("%s", (_, source) => {
    expect(refused(source)).toContain("A stored time may lie too far ahead");
  });
});

describe("code that measures no duration by a wall clock passes", () => {
  it.each(passing)("%s", (_, source) => {
    expect(refused(source)).toEqual([]);
  });
});
