// Generates `apps/cli/src/setting-help.ts`, the command's help for each setting of a publish and each filter, from
// docs/openapi.json.

export function renderCliHelp(openApi) {
  const { paths } = JSON.parse(openApi);
  const all = Object.values(paths).flatMap((methods) =>
    Object.values(methods).flatMap(({ parameters = [] }) => parameters),
  );
  const headers = paths["/v2/publish/{destination}"].post.parameters.filter(
    (each) => each.in === "header" && !each.name.endsWith("*"),
  );
  const settings = headers.map((each) => [
    camel(each.name.replace(/^Service-/, "")),
    { about: each.description, fallback: each["x-default"], example: each["x-example"] },
  ]);
  const queries = all
    .filter((each) => each.in === "query")
    .map(({ description, name }) => [name, description]);
  return [
    "/** Made by `npm run generate` from the tables of headers and parameters: not to be edited. */",
    `export const settingHelp = ${JSON.stringify(Object.fromEntries(settings))} as const;`,
    "/** The meaning of each query parameter. */",
    `export const parameterHelp = ${JSON.stringify(Object.fromEntries(queries))} as const;`,
  ].join("\n\n");
}

const camel = (suffix) =>
  suffix.replaceAll(/(^|-)(.)/g, (_, dash, letter) =>
    dash ? letter.toUpperCase() : letter.toLowerCase(),
  );
