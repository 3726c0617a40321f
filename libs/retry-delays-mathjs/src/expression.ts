/**
 * The language of `-Retry-Delay`: numbers, `retried`, `+ - * /`, unary minus, parentheses, nine functions.
 *
 * mathjs accepts far more than that, so it is restricted three times (docs/design/wire#retry-delays): the text is
 * read token by token before its parser sees it, the parsed tree must contain only listed nodes, and the instance
 * that compiles it is made of the listed functions only. The numbers are those of mathjs: `floor(2.9999999999999996)`
 * is 3. All are doubles, so that a step costs the same whatever its values are, and the size of an expression gives
 * its cost.
 */
import { createRequire } from "node:module";
import { limits } from "@posthaste/domain";
import type * as MathJs from "mathjs/number";

export type Expression =
  /** `why` is for the caller and quotes nothing of the text. */
  | { readonly kind: "refused"; readonly why: string }
  /** `valueAt` returns NaN if the value is not a number; it never throws. */
  | {
      readonly kind: "compiled";
      readonly valueAt: (retried: number) => number;
      /** The cost of one evaluation: one step for each number, name, operator and call. */
      readonly steps: number;
    };

/** Reports whether the text is whole milliseconds, as most callers write them: read without mathjs, and at once. */
export const isWholeNumber = (text: string): boolean => /^\d{1,15}$/.test(text);

/** Never throws, whatever the text. */
export function compileExpression(text: string): Expression {
  if (isWholeNumber(text)) return { kind: "compiled", steps: 1, valueAt: () => Number(text) };
  const unreadable = whyUnreadable(text);
  if (unreadable !== undefined) return refused(unreadable);
  const tree = parsed(text);
  if (!tree) return refused("is not an expression such as 1000 * pow(2, retried)");
  const forbidden = whyForbidden(tree, 1);
  if (forbidden !== undefined) return refused(forbidden);
  const compiled = tree.compile();
  return {
    kind: "compiled",
    steps: tree.filter(() => true).length,
    valueAt: (retried) => {
      const value: unknown = compiled.evaluate({ retried });
      return typeof value === "number" ? value : Number.NaN;
    },
  };
}

const refused = (why: string): Expression => ({ kind: "refused", why });

/** The functions that the parser knows. */
const listed = [
  "absDependencies",
  "addDependencies",
  "ceilDependencies",
  "divideDependencies",
  "expDependencies",
  "floorDependencies",
  "maxDependencies",
  "minDependencies",
  "multiplyDependencies",
  "parseDependencies",
  "powDependencies",
  "roundDependencies",
  "sqrtDependencies",
  "subtractDependencies",
  "unaryMinusDependencies",
] as const;

let loaded: ReturnType<typeof load> | undefined;

/** Loads mathjs once: 660 modules, half a second of a core and 60 MiB. Done with the first expression, or ahead if no caller may wait. */
export function loadedMathjs(): ReturnType<typeof load> {
  return (loaded ??= load());
}

function load() {
  // `require` is lazy without a promise, for which the hot path would have to wait.
  const mathjs = createRequire(import.meta.url)("mathjs/number") as typeof MathJs;
  /** By their types each factory may be missing; a missing one would break everything here. */
  const factories = listed.map((name) => {
    const found = mathjs[name];
    if (!found) throw new Error(`mathjs/number has no ${name}`);
    return [name, found] as const;
  });
  // The last of two factories of the same name counts.
  const createRound = mathjs.factory("round", [], () => roundHalfAwayFromZero);
  const { parse } = mathjs.create({ ...Object.fromEntries(factories), createRound });
  return { mathjs, parse };
}

/**
 * Replaces mathjs's own `round`, which its `floor` and `ceil` use, too: that function writes the number out and reads
 * it back, which takes a hundred times as long as any other step for a number of three hundred digits.
 */
const roundHalfAwayFromZero = (value: number): number =>
  Math.sign(value) * Math.round(Math.abs(value));

function parsed(text: string): MathJs.MathNode | undefined {
  const { parse } = loadedMathjs();
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

/** A decimal number, a name, an operator or a bracket. A number must end at a boundary: `0x10` and `1_000` are not numbers. */
const token =
  /[ \t]*(?:((?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)(?![\w.])|([A-Za-z_]\w*)|([-+*/(),]))[ \t]*/y;

/** Checks alphabet and possible depth in one pass over a bounded text, before a recursive parser sees it. */
function whyUnreadable(text: string): string | undefined {
  const { expressionLengthMax, expressionDepthMax } = limits;
  if (text.length > expressionLengthMax) return `has more than ${expressionLengthMax} characters`;
  if (text.trim() === "") return "is empty";
  let open = 0;
  let signs = 0;
  let at = 0;
  while (at < text.length) {
    token.lastIndex = at;
    const match = token.exec(text);
    if (!match) return `has an invalid character at position ${at + 1}`;
    at = token.lastIndex;
    const symbol = match[3];
    if (symbol === "(") open += 1;
    if (symbol === ")") open -= 1;
    signs = symbol === "-" || symbol === "+" ? signs + 1 : 0;
    if (open + signs > expressionDepthMax) return tooDeep;
  }
  return undefined;
}

const tooDeep = `is nested deeper than ${limits.expressionDepthMax}`;

/** The functions and their numbers of arguments. A Map, so that `constructor` is no key of it. */
const arity: ReadonlyMap<string, number> = new Map([
  ["pow", 2],
  ["exp", 1],
  ["sqrt", 1],
  ["abs", 1],
  ["floor", 1],
  ["ceil", 1],
  ["round", 1],
  ["min", 2],
  ["max", 2],
]);

/** Returns why the tree is not in the language. A chain of sums is not deep; nesting is. */
function whyForbidden(node: MathJs.MathNode, depth: number): string | undefined {
  const { mathjs } = loadedMathjs();
  if (depth > limits.expressionDepthMax + 1) return tooDeep;
  const inside = (nodes: readonly MathJs.MathNode[], to: number): string | undefined =>
    nodes.map((child) => whyForbidden(child, to)).find((why) => why !== undefined);

  if (mathjs.isConstantNode(node)) {
    return Number.isFinite(node.value) ? undefined : "has a constant that is not a finite number";
  }
  if (mathjs.isSymbolNode(node)) {
    return node.name === "retried" ? undefined : "has a name that is not `retried`";
  }
  if (mathjs.isParenthesisNode(node)) return whyForbidden(node.content, depth + 1);
  if (mathjs.isOperatorNode(node)) {
    const unary = node.fn === "unaryMinus";
    const binary = !node.implicit && binaryOperators.has(node.fn);
    if (!unary && !binary) return "has an operator that is not one of + - * / between two values";
    return inside(node.args, unary ? depth + 1 : depth);
  }
  if (mathjs.isFunctionNode(node)) {
    const name = mathjs.isSymbolNode(node.fn) ? node.fn.name : "";
    const expected = arity.get(name);
    if (expected === undefined)
      return `has a function that is not one of ${[...arity.keys()].join(", ")}`;
    if (node.args.length !== expected)
      return `has ${name} with ${node.args.length} arguments instead of ${expected}`;
    return inside(node.args, depth + 1);
  }
  return "has a part that is not allowed";
}

const binaryOperators: ReadonlySet<string> = new Set(["add", "subtract", "multiply", "divide"]);
