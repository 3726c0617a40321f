/**
 * The lint rule of ADR 120. A wall clock may be set at any moment, so no difference of its readings is a duration,
 * and a stored time that is too far ahead counts as over. Durations within a process come from `Clock.passedMs`;
 * stored times are compared by the helpers of libs/domain/src/shared/time.ts.
 *
 * A reading is a call of `now()` or of any expression that ends in `.now()`, except `performance.now()`; any variable
 * named `now`; the result of a sum, a choice or `Math` over a reading; and a variable or private field that was set
 * to one.
 */
const messages = {
  difference:
    "A wall clock may be set: take Clock.passedMs for a duration in a process, or a helper of shared/time.ts for a stored time.",
  sum: "A stored time may lie too far ahead: ask isOver, or a helper of shared/time.ts; for a deadline in memory take Clock.passedMs.",
};

const comparisons = new Set(["<", "<=", ">", ">="]);
const depthMax = 8;

export const wallClock = {
  meta: { type: "problem", schema: [], messages },
  create: ({ sourceCode, report }) => {
    const fields = fieldsOf(sourceCode.ast);

    /** Returns the expression that a name was set to, or undefined. */
    const behind = (node) => {
      if (node.type === "MemberExpression") return fields.get(privateNameOf(node));
      const { defs = [] } = variableOf(sourceCode.getScope(node), node.name) ?? {};
      const [{ node: declared } = {}] = defs;
      const isPlain = declared?.type === "VariableDeclarator" && declared.id.type === "Identifier";
      return isPlain ? (declared.init ?? undefined) : undefined;
    };

    const any = (nodes, depth) => nodes.some((each) => isReading(each, depth));
    const isReading = (node, depth = 0) => {
      if (depth > depthMax) return false;
      switch (node?.type) {
        case "CallExpression":
          return (
            isNowOfWall(node.callee) || (isMath(node.callee) && any(node.arguments, depth + 1))
          );
        case "Identifier":
        case "MemberExpression": {
          const value = behind(node);
          return value ? isReading(value, depth + 1) : isCalledNow(node);
        }
        case "BinaryExpression":
          return node.operator === "+" && any([node.left, node.right], depth + 1);
        case "ConditionalExpression":
          return any([node.consequent, node.alternate], depth + 1);
        case "LogicalExpression":
          return any([node.left, node.right], depth + 1);
        case "TSAsExpression":
        case "TSNonNullExpression":
        case "ChainExpression":
          return isReading(node.expression, depth + 1);
        default:
          return false;
      }
    };

    const isSum = (node, depth = 0) => {
      if (depth > depthMax || !node) return false;
      if (node.type === "BinaryExpression") return node.operator === "+";
      if (isMath(node.callee)) return node.arguments.some((each) => isSum(each, depth + 1));
      const isName = node.type === "Identifier" || node.type === "MemberExpression";
      return isName && isSum(behind(node), depth + 1);
    };

    const isDifference = ({ left, operator, right }) =>
      (operator === "-" || operator === "-=") && any([left, right], 0);
    const isComparison = ({ left, operator, right }) =>
      comparisons.has(operator) && any([left, right], 0) && (isSum(left) || isSum(right));
    const check = (node) => {
      if (isDifference(node)) report({ node, messageId: "difference" });
      else if (isComparison(node)) report({ node, messageId: "sum" });
    };
    return { BinaryExpression: check, AssignmentExpression: check };
  },
};

const isMath = (callee) => callee?.type === "MemberExpression" && callee.object.name === "Math";

const isCalledNow = (node) =>
  node.type === "Identifier" ? node.name === "now" : !node.computed && node.property.name === "now";

const isNowOfWall = (callee) => {
  const called = callee.type === "ChainExpression" ? callee.expression : callee;
  if (called.type === "Identifier") return called.name === "now";
  return (
    called.type === "MemberExpression" &&
    isCalledNow(called) &&
    called.object.name !== "performance"
  );
};

const privateNameOf = ({ object, property }) =>
  object?.type === "ThisExpression" && property.type === "PrivateIdentifier"
    ? property.name
    : undefined;

/** Returns the expressions that each private field of a file is set to, without constants. */
function fieldsOf(ast) {
  const fields = new Map();
  const set = (name, value) => {
    if (name !== undefined && value && value.type !== "Literal" && !fields.has(name))
      fields.set(name, value);
  };
  const walk = (node) => {
    if (node.type === "AssignmentExpression") set(privateNameOf(node.left), node.right);
    if (node.type === "PropertyDefinition" && node.key.type === "PrivateIdentifier")
      set(node.key.name, node.value);
    for (const [key, value] of Object.entries(node))
      if (key !== "parent")
        for (const each of [value].flat()) if (typeof each?.type === "string") walk(each);
  };
  walk(ast);
  return fields;
}

function variableOf(scope, name) {
  for (let each = scope; each; each = each.upper) {
    const variable = each.set.get(name);
    if (variable) return variable;
  }
  return undefined;
}
