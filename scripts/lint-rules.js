/** The project's own lint rules, as a plugin of oxlint. oxlint.config.ts says where each applies. */
import { wallClock } from "./wall-clock.js";

// A Map that callers fill would live as long as the process and give nothing back (ADR 115).
const emptyMap =
  "VariableDeclarator:not([id.typeAnnotation.typeAnnotation.typeName.name=/^Readonly(Map|Set)$/]) > NewExpression[callee.name=/^(Map|Set|TurnoverMap)$/][arguments.length=0]";

/** Code that a selector matches is refused with this message. */
const refused = {
  "hook-of-no-suite": {
    selector:
      "Program > ExpressionStatement > CallExpression[callee.name=/^(before|after)(All|Each)$/]",
    message:
      "Move it to a fixture: the first suite that loads this module would have the hook, others not.",
  },
  "specifier-that-node-cannot-find": {
    selector:
      ":matches(ImportDeclaration, ExportNamedDeclaration, ExportAllDeclaration)[source.value=/^[.].*[.]js$/]",
    message: "Name the .ts file: tsc accepts .js here, Node finds nothing.",
  },
  "kept-for-ever": {
    selector: `Program > VariableDeclaration > ${emptyMap}, ExportNamedDeclaration > VariableDeclaration > ${emptyMap}`,
    message:
      "Take a TextCache: nothing bounds a Map that is filled for as long as the process lives.",
  },
  "ambient-date": {
    selector:
      "NewExpression[callee.name='Date'][arguments.length=0], CallExpression[callee.name='Date']",
    message: "Take a Clock.",
  },
  "ambient-through-global": {
    selector:
      "MemberExpression[object.name=/^(globalThis|global)$/][property.name=/^(Date|Math|process)$/]",
    message: "Write Date, Math and process without globalThis, so that their rules see them.",
  },
  // Functions are hoisted, constants are not: code that runs at the await may call a function that reads one.
  "constant-below-the-await": {
    selector:
      "Program > :matches(ExpressionStatement:has(> AwaitExpression), VariableDeclaration:has(> VariableDeclarator > AwaitExpression)) ~ FunctionDeclaration ~ VariableDeclaration",
    message: "Declare constants above the await that runs the program: they do not exist before.",
  },
  // Lists are read by the holder of a read permit.
  "page-read-without-a-permit": {
    selector:
      "CallExpression[callee.property.name=/^(list|counts|failed|parts|attempts|history|endpoints|page|tenantPage)$/][callee.object.name!=/^(reads|failures)$/][callee.object.type!='CallExpression']",
    message: "Ask `reads(permit)`: services/{gateway,management}/src/reads.ts.",
  },
};

const ruleOf = ({ selector, message }) => ({
  meta: { type: "problem", schema: [] },
  create: ({ report }) => ({ [selector]: (node) => report({ node, message }) }),
});

export default {
  meta: { name: "posthaste" },
  rules: {
    "wall-clock": wallClock,
    ...Object.fromEntries(Object.entries(refused).map(([name, what]) => [name, ruleOf(what)])),
  },
};
