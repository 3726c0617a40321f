// Which folder may import from which others, as docs/ARCHITECTURE.md says. A folder without a row may import nothing.
const rules = ["libs/domain", "libs/ports"];
const service = [...rules, "libs/engine"];
const serving = [...service, "libs/contract", "libs/http"];
const apart = ["libs/ports", "libs/process", "libs/distributed"];
const mayUse = {
  "libs/domain": [],
  "libs/contract": ["libs/domain"],
  "libs/ports": ["libs/domain"],
  "libs/engine": rules,
  "libs/embedded": rules,
  "libs/documents-mongo": rules,
  "libs/bus-kafka": rules,
  "libs/tokens-redis": rules,
  "libs/sender": rules,
  "libs/retry-delays-mathjs": rules,
  "libs/http": [...rules, "libs/contract"],
  "libs/process": [...rules, "libs/http"],
  "libs/oidc": [...rules, "libs/http"],
  "libs/distributed": [...apart, "libs/bus-kafka", "libs/documents-mongo", "libs/tokens-redis"],
  "libs/testing": rules,
  "services/gateway/src": serving,
  "services/gateway/process": [
    ...apart,
    "libs/engine",
    "libs/http",
    "libs/oidc",
    "libs/retry-delays-mathjs",
    "services/gateway/src",
  ],
  "services/scheduler/src": service,
  "services/scheduler/process": [...apart, "libs/engine", "services/scheduler/src"],
  "services/deliverer/src": [...service, "libs/contract"],
  "services/deliverer/process": [
    ...apart,
    ...service,
    "libs/retry-delays-mathjs",
    "libs/sender",
    "services/deliverer/src",
  ],
  "services/callback-dispatcher/src": service,
  "services/callback-dispatcher/process": [...apart, "services/callback-dispatcher/src"],
  "services/workflow-log/src": service,
  "services/workflow-log/process": [...apart, "services/workflow-log/src"],
  "services/management/src": serving,
  "services/management/process": [...apart, "libs/http", "libs/oidc", "services/management/src"],
  "services/migrate/process": ["libs/process", "libs/distributed"],
  "services/standalone/src": [...service, "libs/http", "services/[^/]+/src"],
  "services/standalone/process": [
    ...rules,
    "libs/embedded",
    "libs/http",
    "libs/oidc",
    "libs/process",
    "libs/retry-delays-mathjs",
    "libs/sender",
    "services/[^/]+/src",
  ],
  tests: [
    "libs/[^/]+",
    "services/[^/]+/src",
    "deploy/local",
    "deploy/observability",
    "examples",
    "apps/cli",
  ],
  "apps/cli": ["libs/client", "services/standalone/process", "services/migrate/process"],
  "libs/client": [],
  "apps/console": ["libs/client"],
  "apps/site": ["scripts"],
  examples: ["libs/client"],
  bench: ["libs/domain", "libs/embedded", "deploy/local"],
  scripts: [
    "libs/bus-kafka",
    "libs/contract",
    "libs/process",
    "libs/testing",
    "deploy/observability",
    "deploy/checks",
  ],
  "deploy/image": ["libs/http", "libs/process"],
  "deploy/local": [],
  "deploy/checks": ["libs/process", "libs/testing", "deploy/local"],
  "deploy/observability": ["libs/ports"],
};
const packages = "^(apps|libs|services|tests|examples|bench|scripts|deploy)/";
const frontDoors = [
  "^(libs|services)/[^/]+/src/index\\.ts$",
  "^libs/http/src/router\\.ts$",
  "^libs/client/src/receiver/index\\.ts$",
  "^libs/client/src/(api|node)\\.ts$",
  "^services/standalone/process/(main|folder|doctor)\\.ts$",
  "^services/migrate/process/migrate\\.ts$",
  "^libs/testing/src/(bare-env|pages/index|temporary-folder)\\.ts$",
  "^examples/orders/orders\\.ts$",
  "^apps/cli/src/run\\.ts$",
  "^deploy/local/src/(index|cache-for-checks)\\.ts$",
  "^deploy/observability/src/index\\.ts$",
  "^deploy/checks/src/image/dockerignore\\.ts$",
  "^scripts/(links|homepage|release/version)\\.ts$",
];
// What one package is: its folder below these.
const one =
  "(?:(?:apps|libs)/[^/]+|services/[^/]+/[^/]+|deploy/[^/]+|tests|examples|bench|scripts)";

const direction = Object.entries(mayUse).map(([folder, others]) => ({
  name: `direction-of-${folder}`,
  severity: "error",
  from: { path: `^${folder}/` },
  to: { path: packages, pathNot: `^(${[folder, ...others].join("|")})/` },
}));

module.exports = {
  forbidden: [
    { name: "no-circular", severity: "error", from: {}, to: { circular: true } },
    {
      name: "no-unresolvable",
      severity: "error",
      // Packages of the site's theme are installed when the site is built.
      from: { pathNot: "^apps/site/\\.vitepress/" },
      to: { couldNotResolve: true },
    },
    {
      name: "domain-is-pure",
      severity: "error",
      from: { path: "^libs/domain/" },
      to: { pathNot: "^libs/domain/" },
    },
    ...direction,
    {
      name: "folders-without-a-row",
      severity: "error",
      from: { path: packages, pathNot: `^(${Object.keys(mayUse).join("|")})/` },
      to: { path: packages },
    },
    {
      name: "no-deep-imports",
      severity: "error",
      from: { path: `^(${one})/` },
      to: { path: packages, pathNot: ["^$1/", ...frontDoors] },
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
