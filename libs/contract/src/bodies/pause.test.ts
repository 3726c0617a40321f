import { describe, expect, it } from "@jest/globals";
import { messageId, newOrder, type Run, runId, runKey } from "@posthaste/domain";
import { readBatch } from "../endpoints/batch.ts";
import { readUpsertEndpoints } from "../endpoints/url-groups.ts";
import { parseContext } from "../headers/publish-input.fixture.ts";
import { readPublish } from "../headers/parse-publish.ts";
import { shownParts } from "../workflow/shown-part.ts";
import { bytesPerTurn, pause } from "./pause.ts";

const turns = 3;
const bytes = turns * bytesPerTurn;
/** A turn may read the end of one portion and the beginning of the next. */
const looksPerTurnMax = 2 * bytesPerTurn + 1_024;

const repeated = (shape: string): string => shape.repeat(Math.ceil(bytes / shape.length));
const shapes: Readonly<Record<string, string>> = {
  lists: `[${repeated("[],")}0]`,
  "a text": `"${repeated("x")}"`,
  "a text of escapes": `"${repeated("\\u0000")}"`,
};
const texts = Object.entries(shapes);

/** Counts reads of single bytes, also in parts taken out of the body. Taking out a short part counts as reading all of it. */
function watched(text: string) {
  let looks = 0;
  const watch = (list: Uint8Array): Uint8Array =>
    new Proxy(list, {
      get: (target, key) => {
        if (key === "subarray")
          return (from = 0, to = target.length): Uint8Array => {
            const part = target.subarray(from, to);
            return part.length > bytesPerTurn ? watch(part) : part;
          };
        if (typeof key === "string" && /^\d/.test(key)) looks++;
        return Reflect.get(target, key, target) as unknown;
      },
    });
  return { list: watch(Buffer.from(text)), looks: () => looks };
}

function looksPerTurn(reading: Iterable<unknown>, looks: () => number): number {
  let [most, before] = [0, 0];
  for (const made of reading) {
    most = Math.max(most, looks() - before);
    if (made === pause) before = looks();
  }
  expect(looks()).toBeGreaterThan(bytes);
  return Math.max(most, looks() - before);
}

const { callerIp, now, tenant } = parseContext;
const url = "https://a.example/";
describe("a long body is looked at in turns, each of a bounded number of bytes", () => {
  it.each(texts)("a step of a run with %s", (_, text) => {
    const { list, looks } = watched(`{"stepId":1,"out":${text}}`);

    const reading = readPublish({
      ...parseContext,
      rawHeaders: ["Upstash-Workflow-RunId", "wfr_1"],
      destination: { kind: "url", url },
      body: list,
    });

    expect(looksPerTurn(reading, looks)).toBeLessThanOrEqual(looksPerTurnMax);
  });

  it.each(texts)("an item of a batch with %s", (_, text) => {
    const { list, looks } = watched(`[{"destination":"https://a.example","body":${text}}]`);

    expect(looksPerTurn(readBatch(list, parseContext), looks)).toBeLessThanOrEqual(looksPerTurnMax);
  });

  it.each(texts)("the endpoints of a group with %s", (_, text) => {
    const { list, looks } = watched(`{"endpoints":[${text}]}`);
    const reading = readUpsertEndpoints(list, parseContext);

    expect(looksPerTurn(reading, looks)).toBeLessThanOrEqual(looksPerTurnMax);
  });

  it.each(texts)("a step that is shown with %s", (_, text) => {
    const { list, looks } = watched(`{"stepId":1,"out":${text}}`);
    const run: Run = {
      ...{ key: runKey(tenant, runId("run"), 1), id: runId("run"), generation: 1 },
      ...{ root: messageId("msg_1"), tenant, dialect: "service", shard: 0, url, callerIp },
      ...{ createdAt: now, history: newOrder, bytes: 0, reached: 0, version: 1 },
      state: { kind: "active", pending: [], notes: [] },
      plan: { features: [], headers: [], policy: { timeoutMs: 1, retriesMax: 3, labels: [] } },
    };
    const { add } = shownParts(run, { sha256: () => "" });

    const reading = add({ name: "s1", at: now, body: list });

    expect(looksPerTurn(reading, looks)).toBeLessThanOrEqual(looksPerTurnMax);
  });
});
