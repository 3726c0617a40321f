// Renders the README of the chart from its schema, its values and their comments. Artifact Hub and registries show it.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isMap, parseDocument } from "yaml";

export function renderChartReadme(folder) {
  const read = (name) => readFileSync(join(folder, name), "utf8");
  const { description, kubeVersion } = parseDocument(read("Chart.yaml")).toJSON();
  const schema = JSON.parse(read("values.schema.json"));
  const rows = rowsOf(schema, schema, parseDocument(read("values.yaml")).contents, []);
  return `# Posthaste

${description}

\`\`\`
helm install posthaste oci://ghcr.io/posthaste/charts/posthaste --namespace posthaste --create-namespace --set standalone.enabled=true
\`\`\`

This starts the standalone: one process with its store on a volume. The six services need the addresses of Kafka, Redis and MongoDB: \`kafka.brokers\`, \`redis.url\` and
\`mongodb.uri\`. The page on deploying describes both shapes. The chart needs Kubernetes \`${kubeVersion}\`.

## Values

\`values.schema.json\` refuses any other value, and has the rules for texts, which are left out here.

| Value | Takes | Default | |
| --- | --- | --- | --- |
${rows.join("\n")}
`;
}

function rowsOf(schema, root, map, path) {
  return map.items.flatMap((pair, at) => {
    const name = String(pair.key.value ?? pair.key);
    const rule = resolved(schema?.properties?.[name] ?? schema?.additionalProperties, root);
    const below = [...path, name];
    const comment = at === 0 && path.length > 0 ? map.commentBefore : pair.key.commentBefore;
    if (isMap(pair.value) && pair.value.items.length > 0 && rule?.properties !== undefined)
      return rowsOf(rule, root, pair.value, below);
    const value = JSON.stringify(pair.value?.toJSON() ?? null);
    const shown = value.length > valueCharsMax ? "see values.yaml" : `\`${value}\``;
    return [`| \`${below.join(".")}\` | ${takes(rule, root)} | ${shown} | ${inOneLine(comment)} |`];
  });
}
const valueCharsMax = 80;

function resolved(rule, root) {
  const [, name] = /^#\/definitions\/(.+)$/.exec(rule?.$ref ?? "") ?? [];
  return name === undefined ? rule : resolved(root.definitions[name], root);
}

function takes(given, root) {
  const rule = resolved(given, root);
  if (rule?.enum) return rule.enum.map((each) => `\`${each}\``).join(", ");
  if (rule?.const !== undefined) return rule.const === "" ? "empty" : `\`${rule.const}\``;
  const either = rule?.anyOf ?? rule?.oneOf;
  if (either) return [...new Set(either.map((each) => takes(each, root)))].join(" or ");
  const kinds = [rule?.type ?? "any"].flat().map((type) => words[type] ?? type);
  const bounds = [
    ...(rule?.minimum === undefined ? [] : [`from ${rule.minimum}`]),
    ...(rule?.maximum === undefined ? [] : [`to ${rule.maximum}`]),
    ...(rule?.maxItems === undefined ? [] : [`${rule.maxItems} at most`]),
  ];
  return [kinds.join(" or "), ...bounds].join(" ");
}
const words = {
  array: "list",
  boolean: "`true`, `false`",
  integer: "whole number",
  object: "map",
  string: "text",
};

const inOneLine = (comment) =>
  (comment ?? "")
    .trim()
    .replace(/\s*\n\s*/g, " ")
    .replaceAll("|", "\\|");
