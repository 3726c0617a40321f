// docs/ARCHITECTURE.md has the table that this one enforces. A package that stands in no row may use none.
const mayUse = {
  domain: [],
  ports: ["domain"],
  contract: ["domain"],
  engine: ["domain", "ports"],
  embedded: ["domain", "ports"],
  "bus-kafka": ["domain", "ports"],
  "tokens-redis": ["domain", "ports"],
  "documents-mongo": ["domain", "ports"],
  distributed: ["domain", "ports", "runtime", "bus-kafka", "tokens-redis", "documents-mongo"],
  sender: ["domain", "ports"],
  runtime: ["domain", "ports", "contract"],
  testing: ["[^/]+"],
};
// Tests that need more than one file. Nothing else may import from them; they may import what they like.
const testRooms = "^services/standalone/src/(simulation|crash|e2e|faults)/";
const adapters = "^libs/(bus-|tokens-|documents-|distributed/|sender/|embedded/)";

const direction = Object.entries(mayUse).map(([name, others]) => ({
  name: `direction-of-${name}`,
  severity: "error",
  from: { path: `^libs/${name}/` },
  to: {
    path: "^(libs|services)/",
    pathNot: `^libs/(${[name, ...others].join("|")})/`,
  },
}));

module.exports = {
  forbidden: [
    { name: "no-circular", severity: "error", from: {}, to: { circular: true } },
    { name: "no-unresolvable", severity: "error", from: {}, to: { couldNotResolve: true } },
    {
      name: "domain-is-pure",
      severity: "error",
      from: { path: "^libs/domain/" },
      to: { pathNot: "^libs/domain/" },
    },
    ...direction,
    {
      name: "libs-without-a-row",
      severity: "error",
      from: { path: "^libs/([^/]+)/", pathNot: `^libs/(${Object.keys(mayUse).join("|")})/` },
      to: { path: "^(libs|services)/", pathNot: "^libs/$1/" },
    },
    {
      name: "only-main-knows-adapters",
      severity: "error",
      from: { path: "^services/", pathNot: ["/src/main\\.ts$", testRooms] },
      to: { path: adapters },
    },
    {
      name: "services-do-not-know-testing",
      severity: "error",
      from: { path: "^services/", pathNot: testRooms },
      to: { path: "^libs/testing/" },
    },
    {
      name: "tests-stand-outside",
      severity: "error",
      from: { pathNot: testRooms },
      to: { path: testRooms },
    },
    {
      name: "services-stand-alone",
      severity: "error",
      from: { path: "^services/([^/]+)/", pathNot: "^services/standalone/" },
      to: { path: "^services/", pathNot: "^services/$1/" },
    },
    {
      name: "mathjs-where-expressions-are-evaluated",
      severity: "error",
      from: {
        path: "^services/(scheduler|callback-dispatcher|workflow-log|management)/src/main\\.ts$",
      },
      to: { path: "^libs/engine/src/retry-delay", reachable: true },
    },
    {
      name: "no-deep-imports",
      severity: "error",
      from: { path: "^(libs|services)/([^/]+)/" },
      to: {
        path: "^(libs|services)/[^/]+/src/",
        pathNot: [
          "^$1/$2/",
          "^(libs|services)/[^/]+/src/index\\.ts$",
          "^libs/engine/src/retry-delay\\.ts$",
        ],
      },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "(^|/)dist/|\\.(test|fixture)\\.ts$" },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "default"],
      extensions: [".ts", ".js"],
    },
  },
};
