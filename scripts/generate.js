// Writes the generated documents, or with --check names the stale ones, and reports what is wrong with comments, guarantees,
// settings, wrong lines, versions, licences and the code on pages.
//
//   node scripts/generate.js [--check]
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { format } from "oxfmt";
import { renderClientApi } from "./client-api.js";
import { renderChartReadme } from "./chart-readme.js";
import { renderCliHelp } from "./cli-help.js";
import { readComments } from "./comments.js";
import { readGiveBacks } from "./give-backs.js";
import { readGuarantees } from "./guarantees.js";
import { readLicences, renderThirdParty } from "./third-party.js";
import { readSettings } from "./settings.js";
import { readVersions } from "./versions.js";
import { readWrongLines } from "./wrong-lines.js";
import { renderKafka } from "../libs/bus-kafka/src/index.ts";
import { renderErrors, renderOpenApi } from "../libs/contract/src/index.ts";
import { renderDashboards, renderRules } from "../deploy/observability/src/index.ts";
import { renderConfiguration, renderTelemetry } from "../libs/process/src/index.ts";
import { unclaimedBlocks } from "../libs/testing/src/pages/index.ts";

const root = dirname(import.meta.dirname);

/** Each { path, render }: a path in the repository, and a function that returns its text or a promise of it. */
const documents = [
  { path: "docs/configuration.md", render: renderConfiguration },
  { path: "docs/errors.md", render: renderErrors },
  { path: "docs/kafka.md", render: renderKafka },
  { path: "docs/openapi.json", render: renderOpenApi },
  { path: "docs/telemetry.md", render: renderTelemetry },
  { path: "docs/third-party.md", render: renderThirdParty },
  { path: "libs/client/src/api.ts", render: () => renderClientApi(renderOpenApi()) },
  { path: "apps/cli/src/setting-help.ts", render: () => renderCliHelp(renderOpenApi()) },
  {
    path: "helm/posthaste/README.md",
    render: () => renderChartReadme(join(root, "helm/posthaste")),
  },
  // The chart can read only its own folder.
  { path: "helm/posthaste/files/rules.yaml", render: () => renderRules() },
  ...[...renderDashboards()].map(([name, text]) => ({
    path: `helm/posthaste/files/dashboards/${name}`,
    render: () => text,
  })),
];

const { default: formatting } = await import("../.oxfmtrc.json", { with: { type: "json" } });
const check = process.argv.includes("--check");
const problems = [
  ...readComments(),
  ...readGuarantees(),
  ...readGiveBacks(),
  ...readSettings(),
  ...readVersions(),
  ...readLicences(),
  ...readWrongLines(),
  ...unclaimedBlocks(),
];
for (const problem of problems) complain(problem);
for (const { path, render } of documents) {
  const file = join(root, path);
  // Formats the text, so that the format gate and this one expect the same bytes.
  const { code: text, errors } = await format(file, await render(), formatting);
  for (const { message } of errors) complain(`${path}: ${message}`);
  const current = await readFile(file, "utf8").catch(() => undefined);
  if (text === current) continue;
  if (check) {
    complain(`${path} is stale: npm run generate`);
  } else {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
    console.log(`${path} written`);
  }
}

function complain(text) {
  console.log(text);
  process.exitCode = 1;
}
