import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { fault, limits } from "@posthaste/domain";
import * as mathjs from "mathjs/number";
import { compileExpression } from "./expression.ts";
import { retryDelays } from "./retry-delays.ts";

const field = "Service-Retry-Delay";
const check = (expression: string, retriesMax = 3) =>
  retryDelays().check(expression, retriesMax, field);
const delayMs = (expression: string, retried = 0) => retryDelays().delayMs(expression, retried);

describe("a retry delay expression", () => {
  it.each([
    ["1000", [1000, 1000, 1000]],
    ["1000*(1+retried)", [1000, 2000, 3000]],
    ["pow(2, retried)*1000", [1000, 2000, 4000]],
    ["max(1000, pow(2,retried)*100)", [1000, 1000, 1000]],
    ["min(500, 300 * retried)", [0, 300, 500]],
    ["exp(2.5*retried)*1000", [1000, 12_182, 148_413]],
    ["sqrt(retried) * abs(-10)", [0, 10, 14]],
    ["floor(1.9) + ceil(1.1) + round(2.5)", [6, 6, 6]],
    ["-5", [0, 0, 0]],
    ["0", [0, 0, 0]],
    ["1e3", [1000, 1000, 1000]],
    ["1.5e+3", [1500, 1500, 1500]],
    [".5 * 10", [5, 5, 5]],
    ["2 - -3", [5, 5, 5]],
    ["8 / 2 / 2", [2, 2, 2]],
    ["2 + 3 * 4", [14, 14, 14]],
    [" \t1000 \t", [1000, 1000, 1000]],
    ["0.4", [0, 0, 0]],
    ["1e12", [86_400_000, 86_400_000, 86_400_000]],
  ])("%j is worth %j ms before the first three retries", (expression, expected) => {
    const delays = [0, 1, 2].map((retried) => delayMs(expression, retried));

    expect(check(expression)).toBeUndefined();
    expect(delays).toEqual(expected);
  });

  it.each([
    ["nothing", ["", "   ", "\t"]],
    ["what is no finite number", ["1/0", "0/0", "pow(10,400)", "sqrt(-1)", "1e400", "1/retried"]],
    [
      "constants by name",
      ["NaN", "Infinity", "min(Infinity, 1)", "null", "true", "undefined", "pi"],
    ],
    [
      "other names",
      ["a", "e", "i", "RETRIED", "constructor", "__proto__", "_", "retried.constructor"],
    ],
    [
      "other functions",
      ["cos(1)", "toString()", 'eval("1")', 'parse("1")', "factorial(1e6)", "unaryMinus(1)"],
    ],
    [
      "ways out",
      [
        'cos.constructor("return process")()',
        'import("fs")',
        "constructor(1)",
        "hasOwnProperty(1)",
      ],
    ],
    [
      "a wrong number of arguments",
      ["pow(2)", "min()", "pow(1,2,3)", "exp()", "round(1.5, 1)", "max(1)", "abs(1,2)"],
    ],
    ["calling what is no function", ["retried(2)", "2(3)", "(1)(2)", "pow", "pow(1,2)(3)"]],
    ["multiplication without a sign", ["2 retried", "2retried", "2(retried)", "retried retried"]],
    [
      "other operators",
      ["2^3", "2%3", "5!", "2 mod 3", "not 1", "1 == 1", "1 ? 2 : 3", "+5", "1 and 2", "2 to 3"],
    ],
    ["other number forms", ["0x10", "0b11", "0o17", "1_000", "1.2.3", "1e", "1e+", "1i", "10%"]],
    ["statements", ["retried=5", "f(x)=x", "1;2", "1\n2", "1 # 2", "a = 1; a"]],
    ["other values", ["[1,2]", "{a:1}", '"1"', "'1'", "1:1e9", "zeros(1e9,1e9)", "${7*7}", "`x`"]],
    ["other alphabets", ["１０００", "1\u202e", "1\u00a0+1", "1\u0000", "rеtried", "\ufeff1"]],
    [
      "half of an expression",
      ["(", ")", "()", "1+", "*1", "1 1", "pow(1,", "pow(1,)", "1,2", "(1", "1)"],
    ],
  ])("is refused when it holds %s", (_, expressions) => {
    const accepted = expressions.filter((expression) => check(expression) === undefined);

    expect(accepted).toEqual([]);
  });

  it.each([
    ["foo(1)", "not one of pow, exp, sqrt, abs, floor, ceil, round, min, max"],
    ["min(1, 2, 3)", "has min with 3 arguments instead of 2"],
    ["count + 1", "has a name that is not `retried`"],
    ["1000 *", "1000 * pow(2, retried)"],
  ])("is refused with a text that lists what it may contain: %s", (expression, words) => {
    expect(check(expression)?.text).toContain(words);
  });

  it("is refused when it is longer than 256 characters", () => {
    const longest = "1+".repeat(127) + "10";

    expect(longest).toHaveLength(256);
    expect(check(longest)).toBeUndefined();
    expect(check(`${longest}0`)?.text).toMatch(/more than 256 characters/);
    expect(check(" ".repeat(257))).toBeDefined();
  });

  it.each([
    ["functions", (depth: number) => "abs(".repeat(depth) + "1" + ")".repeat(depth)],
    ["parentheses", (depth: number) => "(".repeat(depth) + "1" + ")".repeat(depth)],
    ["signs", (depth: number) => "-".repeat(depth) + "1"],
    [
      "signs and parentheses",
      (depth: number) => "-(".repeat(depth / 2) + "1" + ")".repeat(depth / 2),
    ],
  ])("is refused when its %s are nested deeper than 16", (_, nested) => {
    expect(check(nested(16))).toBeUndefined();
    expect(check(nested(18))?.text).toMatch(/nested deeper than 16/);
  });

  it("is refused for its depth before it is parsed", () => {
    for (const opening of ["(", "-", "abs("]) {
      expect(check(opening.repeat(17))?.text).toMatch(/nested deeper than 16/);
    }
  });

  it("is refused without harm when it is absurdly deep", () => {
    for (const opening of ["(", "-", "abs(", "-(", "[", "+"]) {
      expect(check(opening.repeat(100_000))).toBeDefined();
    }
  });

  it("is checked for every retry that the message may have, and for no other", () => {
    const failsFromTheSixthOn = "sqrt(5 - retried)";

    expect(check(failsFromTheSixthOn, 6)).toBeUndefined();
    expect(check(failsFromTheSixthOn, 7)?.text).toMatch(/when retried is 6/);
    expect(check("pow(10, retried)", 1000)?.text).toMatch(/when retried is 309/);
    expect(check("1/0", 0)).toBeUndefined();
    expect(check("1+", 0)).toBeDefined();
  });

  it("is checked at the last of very many retries, too, if it has too many terms to be checked at each", () => {
    const terms = "+1".repeat(110);

    expect(check(`1/(999 - retried)${terms}`, 1_000)?.text).toMatch(/when retried is 999/);
    expect(check(`exp(retried)${terms}`, 1_000)?.text).toMatch(/when retried is 710/);
    expect(check(`exp(retried / 10)${terms}`, 1_000)).toBeUndefined();
  });

  it.each([
    ["sums", "+1".repeat(120)],
    ["functions", "+max(2,3.3)".repeat(20)],
    ["roundings of large numbers", "+floor(9e307)".repeat(16)],
  ])("is checked in about a millisecond, be it ever so new: %s", (_, terms) => {
    const cpuMs = Array.from({ length: 101 }, (__, n) => {
      const before = process.threadCpuUsage();
      check(`${n}${terms}`, 1_000);
      const { user, system } = process.threadCpuUsage(before);
      return (user + system) / 1_000;
    });

    // The thread's own time, so that a busy host matters little. Without the bound in steps it is a hundred milliseconds.
    expect(cpuMs.toSorted((a, b) => a - b)[50]).toBeLessThan(25);
  });

  it("is charged to its caller when new, and free when known, too long or a plain number", () => {
    const delays = retryDelays();
    let spent = 0;
    const spend = () => void ++spent;
    const texts = ["1000", "7*retried", "7*retried", " ".repeat(257), "1/", "1/", "7*retried"];

    for (const text of texts) delays.check(text, 3, field, spend);

    expect(spent).toBe(2);
  });

  it("is neither looked at nor kept when no more may be spent on it", () => {
    const delays = retryDelays();
    const asked: string[] = [];
    const refused = fault("too_many_requests", "later");
    const spend = () => (asked.push("asked"), refused);

    expect(delays.check("8*retried", 3, field, spend)).toBe(refused);
    expect(delays.check("8*retried", 3, field, spend)).toBe(refused);
    expect(delays.check("8*retried", 3, field, () => undefined)).toBeUndefined();
    expect(delays.check("8*retried", 3, field, spend)).toBeUndefined();
    expect(asked).toHaveLength(2);
  });

  it("is refused by the name of its field, and without quoting it", () => {
    const secret = check("hunter2", 3);

    expect(secret).toMatchObject({ fault: "malformed" });
    expect(secret?.text).toMatch(/^Service-Retry-Delay: /);
    expect(secret?.text).not.toMatch(/hunter2/);
  });

  it("that was never checked delays by the default back-off instead of stopping the delivery", () => {
    expect(delayMs("1/0", 0)).toBe(12_182);
    expect(delayMs("import(", 0)).toBe(12_182);
    expect(delayMs("pow(10, 400)", 9)).toBe(limits.retryDelayMsMax);
  });

  it("is forgotten for newer ones and then compiled again, with the same value", () => {
    const delays = retryDelays();
    const before = delays.delayMs("7 + retried", 1);

    for (let i = 0; i < 1_100; i++) delays.check(`${i} + 0`, 1, field);

    expect(delays.delayMs("7 + retried", 1)).toBe(before);
  });

  it("rounds as mathjs does", () => {
    const { floor, ceil, round } = mathjs;
    const near = fc.tuple(fc.integer({ min: -1e6, max: 1e6 }), fc.constantFrom(0.5, 0.25, 1e-13));
    const values = fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true }).filter((value) => value !== 0),
      near.map(([whole, part]) => whole + part),
    );

    const holds = fc.property(values, (value) => {
      for (const [name, theirs] of Object.entries({ floor, ceil, round })) {
        const text = `${name}(${value < 0 ? `-${-value}` : value}) / 1e290`;
        const expression = compileExpression(text);
        if (expression.kind === "refused") throw new Error(`${text} ${expression.why}`);
        expect(expression.valueAt(0) + 0).toBe(theirs(value) / 1e290 + 0);
      }
    });

    fc.assert(holds, { numRuns: 2_000, seed: 1 });
  });

  it("of any text is refused or worth 0 ms to a day, and never throws", () => {
    const delays = retryDelays();
    const alphabet = [..."0123456789.eE+-*/(),_ \t%^=[]{};:'\"#\n", ...words];
    const texts = fc.oneof(
      fc.string({ maxLength: 300, unit: "binary" }),
      fc.array(fc.constantFrom(...alphabet), { maxLength: 40 }).map((parts) => parts.join("")),
    );

    const holds = fc.property(texts, fc.nat(1_000), (text, retried) => {
      const refused = delays.check(text, retried + 1, field) !== undefined;
      const ms = delays.delayMs(text, retried);
      return Number.isInteger(ms) && ms >= 0 && (refused || ms <= limits.retryDelayMsMax);
    });

    fc.assert(holds, { numRuns: 2_000, seed: 1 });
  });

  it("of the language has the value of plain arithmetic", () => {
    const delays = retryDelays();

    const holds = fc.property(tree, fc.nat(20), (node, retried) => {
      const text = textOf(node);
      fc.pre(
        text.length <= limits.expressionLengthMax && nestingOf(node) <= limits.expressionDepthMax,
      );
      const expected = valueOf(node, retried);
      const refused = delays.check(text, retried + 1, field);
      const allFinite = Array.from({ length: retried + 1 }, (_, at) => valueOf(node, at)).every(
        Number.isFinite,
      );
      if (!allFinite) return expect(refused).toBeDefined();
      expect(refused).toBeUndefined();
      const clamped = Math.min(Math.max(Math.round(expected), 0), limits.retryDelayMsMax);
      expect(Math.abs(delays.delayMs(text, retried) - clamped)).toBeLessThanOrEqual(1);
    });

    fc.assert(holds, { numRuns: 2_000, seed: 1 });
  });
});

const words = [
  "retried",
  "pow",
  "exp",
  "min",
  "abs(",
  "constructor",
  "__proto__",
  "import",
  "mod",
  "to",
  "in",
  "not",
];

type Tree =
  | { readonly kind: "number"; readonly value: number }
  | { readonly kind: "retried" }
  | { readonly kind: "minus"; readonly of: Tree }
  | {
      readonly kind: "operator";
      readonly sign: "+" | "-" | "*" | "/";
      readonly left: Tree;
      readonly right: Tree;
    }
  | {
      readonly kind: "call";
      readonly name: keyof typeof functions;
      readonly args: readonly Tree[];
    };

/**
 * Roundings of a value that arithmetic has moved across a boundary differ by design (mathjs forgives 1e-12), so they
 * are left to the table above.
 */
const functions = {
  pow: { arity: 2, value: (x: number, y: number) => x ** y },
  exp: { arity: 1, value: (x: number) => Math.exp(x) },
  sqrt: { arity: 1, value: (x: number) => Math.sqrt(x) },
  abs: { arity: 1, value: (x: number) => Math.abs(x) },
  min: { arity: 2, value: (x: number, y: number) => Math.min(x, y) },
  max: { arity: 2, value: (x: number, y: number) => Math.max(x, y) },
} as const;

const { tree } = fc.letrec<{ tree: Tree }>((tie) => {
  const call = (name: keyof typeof functions) =>
    fc.record({
      kind: fc.constant("call" as const),
      name: fc.constant(name),
      args: fc.array(tie("tree"), {
        minLength: functions[name].arity,
        maxLength: functions[name].arity,
      }),
    });
  return {
    tree: fc.oneof(
      { maxDepth: 5, withCrossShrink: true },
      fc.record({ kind: fc.constant("number" as const), value: fc.nat(5_000).map((n) => n / 4) }),
      fc.record({ kind: fc.constant("retried" as const) }),
      fc.record({ kind: fc.constant("minus" as const), of: tie("tree") }),
      fc.record({
        kind: fc.constant("operator" as const),
        sign: fc.constantFrom("+" as const, "-" as const, "*" as const, "/" as const),
        left: tie("tree"),
        right: tie("tree"),
      }),
      call("pow"),
      call("exp"),
      call("sqrt"),
      call("abs"),
      call("min"),
      call("max"),
    ),
  };
});

function textOf(node: Tree): string {
  switch (node.kind) {
    case "number":
      return String(node.value);
    case "retried":
      return "retried";
    case "minus":
      return `-(${textOf(node.of)})`;
    case "operator":
      return `(${textOf(node.left)}) ${node.sign} (${textOf(node.right)})`;
    case "call":
      return `${node.name}(${node.args.map(textOf).join(", ")})`;
  }
}

function valueOf(node: Tree, retried: number): number {
  switch (node.kind) {
    case "number":
      return node.value;
    case "retried":
      return retried;
    case "minus":
      return -valueOf(node.of, retried);
    case "operator":
      return operate(node.sign, valueOf(node.left, retried), valueOf(node.right, retried));
    case "call": {
      const [x = 0, y = 0] = node.args.map((arg) => valueOf(arg, retried));
      return functions[node.name].value(x, y);
    }
  }
}

function operate(sign: "+" | "-" | "*" | "/", left: number, right: number): number {
  switch (sign) {
    case "+":
      return left + right;
    case "-":
      return left - right;
    case "*":
      return left * right;
    case "/":
      return left / right;
  }
}

function nestingOf(node: Tree): number {
  switch (node.kind) {
    case "number":
    case "retried":
      return 0;
    case "minus":
      return 2 + nestingOf(node.of);
    case "operator":
      return 1 + Math.max(nestingOf(node.left), nestingOf(node.right));
    case "call":
      return 1 + Math.max(...node.args.map(nestingOf));
  }
}
