// Writes the pages of the API reference, from apps/reference and Swagger UI, for a build of the console below docs/.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const source = join(import.meta.dirname, "../apps/reference/src");
const requireThere = createRequire(join(source, "../package.json"));
const assets = [
  ...["swagger-ui-bundle.js", "swagger-ui.css"].map((name) => [
    name,
    () => requireThere.resolve(`swagger-ui-dist/${name}`),
  ]),
  ...["page.js", "page.css"].map((name) => [name, () => join(source, name)]),
];
const openApi = join(import.meta.dirname, "../docs/openapi.json");
const digestLength = 12;

/** Names assets after their content, since browsers keep them for ever. */
export function writeReference(folder) {
  mkdirSync(join(folder, "assets"), { recursive: true });
  let page = readFileSync(join(source, "index.html"), "utf8");
  for (const [name, fileOf] of assets) {
    const text = readFileSync(fileOf(), "utf8").replace(/\n\/[/*]# sourceMappingURL=.*\s*$/, "\n");
    const digest = createHash("sha256").update(text).digest("hex").slice(0, digestLength);
    const named = name.replace(/(\.\w+)$/, `-${digest}$1`);
    writeFileSync(join(folder, "assets", named), text);
    page = page.replaceAll(`"assets/${name}"`, `"assets/${named}"`);
  }
  const about = readFileSync(requireThere.resolve("swagger-ui-dist/package.json"), "utf8");
  const { name, version, license } = JSON.parse(about);
  const licence = readFileSync(requireThere.resolve("swagger-ui-dist/LICENSE"), "utf8");
  const notice = readFileSync(requireThere.resolve("swagger-ui-dist/NOTICE"), "utf8");
  const inside = readFileSync(
    requireThere.resolve("swagger-ui-dist/swagger-ui-bundle.js.LICENSE.txt"),
    "utf8",
  );
  const licences = [`# ${name} ${version} (${license})`, notice, licence, inside].join("\n\n");
  writeFileSync(join(folder, "licences.md"), licences);
  for (const api of ["gateway", "management"])
    writeFileSync(join(folder, `${api}.json`), JSON.stringify(documentOf(api)));
  // Written last: then the folder is complete.
  writeFileSync(join(folder, "index.html"), page);
}

/**
 * Returns the document of one API as that API serves it. Servers are relative to the document, since a proxy may serve it
 * below a path.
 */
function documentOf(api) {
  const whole = JSON.parse(readFileSync(openApi, "utf8"));
  const isOfApi = ({ servers }) => (servers === undefined) === (api === "gateway");
  const paths = Object.entries(whole.paths).flatMap(([path, methods]) => {
    const own = Object.entries(methods).filter(([, operation]) => isOfApi(operation));
    const here = own.map(([method, operation]) => [method, { ...operation, servers: undefined }]);
    return own.length === 0 ? [] : [[path, Object.fromEntries(here)]];
  });
  const used = new Set(
    paths.flatMap(([, methods]) => Object.values(methods)).flatMap((o) => o.tags),
  );
  const { operator, token } = whole.components.securitySchemes;
  return {
    ...whole,
    servers: [{ url: "." }],
    security: api === "gateway" ? whole.security : [{ operator: [] }],
    tags: whole.tags.filter(({ name }) => used.has(name)),
    paths: Object.fromEntries(paths),
    components: {
      ...whole.components,
      schemas: schemasOf(
        { paths, responses: whole.components.responses },
        whole.components.schemas,
      ),
      securitySchemes: api === "gateway" ? { token } : { operator },
    },
  };
}

/** Returns the schemas that `parts` name, directly or through other schemas. */
function schemasOf(parts, schemas) {
  const named = new Set();
  const follow = (value) => {
    for (const [, name] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (named.has(name)) continue;
      named.add(name);
      follow(schemas[name]);
    }
  };
  follow(parts);
  return Object.fromEntries(Object.entries(schemas).filter(([name]) => named.has(name)));
}

export function hashReference(sum) {
  sum.update(readFileSync(openApi));
  sum.update(readFileSync(import.meta.filename));
  sum.update(readFileSync(join(source, "index.html")));
  for (const [, fileOf] of assets) sum.update(readFileSync(fileOf()));
}
