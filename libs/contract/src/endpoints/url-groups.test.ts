import { describe, expect, it } from "@jest/globals";
import { type Fault, defaultPlan, fault, isFault } from "@posthaste/domain";
import * as fc from "fast-check";
import { pause, type Pause } from "../bodies/pause.ts";
import { type EndpointContext, readRemoveEndpoints, readUpsertEndpoints } from "./url-groups.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const context: EndpointContext = { plan: defaultPlan, readUrl: (given) => given };
const whole = <T>(items: Iterable<T | Fault | Pause>): readonly (T | Fault)[] | Fault => {
  const all = [...items].filter((item): item is T | Fault => item !== pause);
  return all.find(isFault) ?? all;
};
const upsert = (text: string, changed: Partial<EndpointContext> = {}) =>
  whole(readUpsertEndpoints(bytes(text), { ...context, ...changed }));
const remove = (text: string) => whole(readRemoveEndpoints(bytes(text)));

const hostile: readonly (readonly [string, string])[] = [
  ["", "body: must be a JSON object, and is empty"],
  [" ", "body: must be JSON in UTF-8"],
  ["{", "body: must be JSON in UTF-8"],
  ["\uFEFF{}", "body: must be JSON in UTF-8"],
  ['{"endpoints":[{"url":"https://a.b"},]}', "body: must be JSON in UTF-8"],
  ['{"endpoints":[{"url":"https://a.b"}}', "body: must be JSON in UTF-8"],
  ['{"endpoints":[{"url":"https://a.b"} {}]}', "body: must be JSON in UTF-8"],
  ['{"endpoints":[{"url":"https://a.b"}]}x', "body: must be JSON in UTF-8"],
  ['{"endpoints":[{"url":"https://a.b"}],}', "body: must be JSON in UTF-8"],
  ['{"endpoints" [{"url":"https://a.b"}]}', "body: must be JSON in UTF-8"],
  ['{"endpoints":[{"url":"https://a.b"}],"x":nonsense}', "body: must be JSON in UTF-8"],
  ['{"endpoints":[],"endpoints":[]}', "endpoints: must not occur twice"],
  ['{"x":1,"endpoints":[],"x":[1]}', "x: must not occur twice"],
  ['{"x":[{"y":{"z":1,"z":2}}],"endpoints":[]}', "x[0].y.z: must not occur twice"],
  [
    '{"endpoints":[{"url":"https://a.b","url":"https://a.c"}]}',
    "endpoints[0].url: must not occur twice",
  ],
  [`{"x":[${"0,".repeat(2_000)}0]}`, "body: must hold at most 1024 values"],
  ["NaN", "body: must be JSON in UTF-8"],
  ["[".repeat(1_000_000), "body: must not nest deeper than 32"],
  [`{"a":${"[".repeat(32)}${"]".repeat(32)}}`, "body: must not nest deeper than 32"],
  ["null", "body: must be an object"],
  ["[]", "body: must be an object"],
  ["{}", "endpoints: must be an array"],
  ['{"endpoints":{}}', "endpoints: must be an array"],
  ['{"__proto__":{"endpoints":[]}}', 'body: unknown field "__proto__"; known names: endpoints'],
  ['{"endpoint":[]}', 'body: unknown field "endpoint"; known names: endpoints'],
  ['{"y":1,"endpoints":[]}', 'body: unknown field "y"; known names: endpoints'],
  [
    '{"endpoints":[{"url":"https://a.b","nmae":"n"}]}',
    'endpoints[0]: unknown field "nmae"; known names: url, name; did you mean name?',
  ],
  ['{"endpoints":[]}', "endpoints: must hold at least one endpoint"],
  ['{"endpoints":["https://a.b"]}', "endpoints[0]: must be an object"],
];

describe("the endpoints to add", () => {
  it("are read with their names, in order", () => {
    const text = `{"endpoints":[{"url":"https://a.b/1","name":"one"},{"url":"https://a.b/2","name":null}]}`;

    expect(upsert(text)).toEqual([{ url: "https://a.b/1", name: "one" }, { url: "https://a.b/2" }]);
  });

  it.each([
    ...hostile,
    ['{"endpoints":[{"url":"https://a.b"},{"name":"x"}]}', "endpoints[1].url: must be a string"],
    ['{"endpoints":[{"url":5}]}', "endpoints[0].url: must be a string"],
    ['{"endpoints":[{"url":""}]}', "endpoints[0].url: must not be empty"],
    ['{"endpoints":[{"url":"https://a.b","name":""}]}', "endpoints[0].name: must not be empty"],
    [
      `{"endpoints":[{"url":"https://a.b","name":"${"x".repeat(129)}"}]}`,
      "endpoints[0].name: must be at most 128 characters",
    ],
  ])("are refused in %.60s, naming the field", (text, expected) => {
    expect(upsert(text)).toEqual({ fault: "malformed", text: expected });
  });

  it("are refused with a URL that is refused, under its place", () => {
    const readUrl = (url: string, field: string) =>
      url === "ftp://x" ? fault("malformed", `${field}: bad`) : url;

    const answer = upsert('{"endpoints":[{"url":"https://a.b"},{"url":"ftp://x"}]}', {
      readUrl,
    });

    expect(answer).toEqual({ fault: "malformed", text: "endpoints[1].url: bad" });
  });

  it("are no more than the plan allows", () => {
    const plan = { ...defaultPlan, groupEndpointsMax: 1 };
    const text = '{"endpoints":[{"url":"https://a.b"},{"url":"https://a.c"}]}';

    expect(upsert(text, { plan })).toEqual({
      fault: "beyond_plan",
      text: "quota maxEndpointsPerTopic exceeded, current limit: 1",
    });
  });

  it("are no more than 2 MiB of JSON", () => {
    const answer = upsert(`{"endpoints":"${"x".repeat(2 * 1_024 * 1_024)}"}`);

    expect(answer).toMatchObject({ fault: "too_large" });
  });

  it("are refused in bytes that are not UTF-8", () => {
    const text = new Uint8Array([...bytes('{"endpoints":"'), 0xff, ...bytes('"}')]);

    expect([...readUpsertEndpoints(text, context)]).toEqual([
      { fault: "malformed", text: "body: must be JSON in UTF-8" },
    ]);
  });

  it("may hold any number of brackets inside a text", () => {
    const name = `${"[".repeat(60)}\\"${"{".repeat(60)}`;

    expect(upsert(`{"endpoints":[{"url":"https://a.b","name":"${name}"}]}`)).toEqual([
      { url: "https://a.b", name: name.replace("\\", "") },
    ]);
  });
});

describe("the endpoints to remove", () => {
  it("are named by name, by URL or by both", () => {
    const text = '{"endpoints":[{"name":"one"},{"url":"not judged"},{"url":"u","name":"n"}]}';

    expect(remove(text)).toEqual([{ name: "one" }, { url: "not judged" }, { url: "u", name: "n" }]);
  });

  it("are the ones of the list that is not empty", () => {
    const text = '{"endpoints":[{"name":"one","url":""},{"url":"u","name":""}]}';

    expect(remove(text)).toEqual([{ name: "one" }, { url: "u" }]);
  });

  it.each([
    ...hostile,
    ['{"endpoints":[{}]}', "endpoints[0]: must have a url or a name"],
    ['{"endpoints":[{"url":null}]}', "endpoints[0]: must have a url or a name"],
    ['{"endpoints":[{"url":"","name":""}]}', "endpoints[0]: must have a url or a name"],
  ])("are refused in %.60s, naming the field", (text, expected) => {
    expect(remove(text)).toEqual({ fault: "malformed", text: expected });
  });
});

describe("a body of 2 MiB", () => {
  const filled = (element: string): Uint8Array => {
    const count = Math.floor((2 * 1024 * 1024 - 16) / (element.length + 1));
    return bytes(`{"endpoints":[${Array<string>(count).fill(element).join(",")}]}`);
  };

  it.each(["1", "{}", "[]", '""', '{"url":""}'])(
    "of wrong elements %s is judged no further than the first",
    (element) => {
      const body = filled(element);

      const answers = whole(readUpsertEndpoints(body, context));

      expect(answers).toEqual(expect.objectContaining({ fault: "malformed" }));
    },
  );

  it("with elements beyond the plan is parsed no further than the plan allows", () => {
    let judgedCount = 0;
    const readUrl = (url: string) => {
      judgedCount++;
      return url;
    };

    const answers = [...readUpsertEndpoints(filled('{"url":"x"}'), { ...context, readUrl })];

    expect(answers.at(-1)).toMatchObject({ fault: "beyond_plan" });
    expect(judgedCount).toBe(defaultPlan.groupEndpointsMax);
  });
});

it("whatever JSON holds, it is either understood or refused", () => {
  const body = fc.oneof(
    fc.json(),
    fc.jsonValue().map((value) => JSON.stringify({ endpoints: [value] })),
    fc.string({ unit: "binary" }),
  );
  fc.assert(
    fc.property(body, (text) => {
      const answers: readonly (readonly unknown[] | Fault)[] = [upsert(text), remove(text)];
      return answers.every((answer) => isFault(answer) || answer.length > 0);
    }),
    { numRuns: 1_000 },
  );
});
