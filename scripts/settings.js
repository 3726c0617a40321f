// Checks that no setting is without effect: each variable of the configuration is read by every process that declares it, each
// value of the chart by a template, and each option of the command line by its command. Pages and manifests name no other variable.
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isMap, parseDocument } from "yaml";
import { configSchemas } from "../libs/process/src/index.ts";

const root = dirname(import.meta.dirname);
const isForeign = (name) => ["node_modules", "dist", "testing"].includes(name);
const isOfTests = /\.(test|fixture)\.ts$/;
const sources = sourcesOf("{libs,services}/**/*.ts");
const pages = [
  "{README.md,docker-compose.yml,.env}",
  "{docs,docs/design}/*.md",
  "helm/posthaste/{README.md,values.yaml,ci/*,templates/**/*.*}",
  "deploy/{Dockerfile,image/*,systemd/*,observability/*.*}",
];

export const readSettings = () => [
  ...Object.keys(configSchemas).flatMap(unreadVariables),
  ...globSync(pages, { cwd: root }).flatMap(unknownNames),
  ...unreadValues(),
  ...unreadOptions(),
];

/** The texts of the functions at the top of the files: by their name if they are exported, and by file and name. */
const functions = new Map(
  [...sources].flatMap(([file, text]) =>
    text.split(/^(?=(?:export )?(?:async )?(?:function\*?|const) \w)/m).flatMap((own) => {
      const [, exported, name] =
        /^(export )?(?:async )?(?:function\*?|const) (\w+)/.exec(own) ?? [];
      const entry = { file, text: own };
      return [[`${file} ${name}`, entry], ...(exported ? [[name, entry]] : [])];
    }),
  ),
);

/** A process reads a variable in its own folder, and in functions that get `config`, or `options` that have it, from there or from such a function. */
function unreadVariables(service) {
  const folder = `services/${service}/process/`;
  const reached = new Set();
  for (const [file, text] of sources) if (file.startsWith(folder)) reached.add({ file, text });
  for (const { file, text } of reached)
    for (const [, name] of text.matchAll(
      /\b(\w+)\((?=(?:[^()]|\([^()]*\))*?\b(?:config|options)\b)/g,
    )) {
      const called = functions.get(`${file} ${name}`) ?? functions.get(name);
      if (called) reached.add(called);
    }
  const read = [...reached].map(({ text }) => text).join("\n");
  return Object.keys(configSchemas[service].shape)
    .filter((key) => !isRead(read, key, "config", "Config"))
    .map((key) => `${service} declares ${key}, and nothing in it reads config.${key}`);
}

/** Reports whether the text has `object.key`, or takes `key` out of the object, or out of an argument whose type ends with `Type`. */
function isRead(text, key, object, type) {
  const taken = `\\{[^{}]*\\b${key}\\b[^{}]*\\}`;
  return [
    `\\b${object}(?:\\.${key}\\b|\\["${key}"\\])`,
    `${taken}\\s*= (?:[\\w#]+\\.)*(?:#?${object}\\b|readConfig\\()`,
    `${taken}: (?:\\w+<)?\\w*${type}\\b`,
    ...(object === "options"
      ? [`${taken},?\\s*\\)\\s*=>`, `acting<[^>]*\\b${key}\\b[^]*?\\{ \\.\\.\\.options \\}`]
      : []),
  ].some((pattern) => new RegExp(pattern).test(text));
}

const namesOfOthers = /^POSTHASTE_(?:TEST_|CACHE$|CELLS$|LAST_RELEASE$)|^OTEL_/;

/** The variables of the page of the configuration, which is made from the schemas. */
const known = new Set(
  [...read("docs/configuration.md").matchAll(/^\| `(\w+)`( [*_]secret[*_])?/gm)].flatMap(
    ([, name, secret]) => (secret ? [name, `${name}_FILE`] : [name]),
  ),
);

function unknownNames(page) {
  const isKnown = (name) =>
    known.has(name) || (name.endsWith("_") && [...known].some((one) => one.startsWith(name)));
  const names = new Set(read(page).match(/\b(?:POSTHASTE|OTEL)_[A-Z0-9_]+/g));
  return [...names]
    .filter((name) => !isKnown(name) && !namesOfOthers.test(name))
    .map((name) => `${page} names ${name}, which is no variable`);
}

/** A value passed on whole, as by toYaml, needs no template that names its parts. */
function unreadValues() {
  const templates = globSync("helm/posthaste/templates/**/*.*", { cwd: root }).map(read).join("\n");
  const namesIn = (text) =>
    new Set([...text.matchAll(/[.$"]([A-Za-z-]+)\b/g)].map(([, name]) => name));
  const named = namesIn(templates);
  const whole = namesIn(templates.match(/.*\bto(?:Yaml|Json)\b.*/g).join("\n"));
  const unread = (map) =>
    map.items.flatMap(({ key, value }) => {
      if (!named.has(key.value)) return [key.value];
      return isMap(value) && !whole.has(key.value) ? unread(value) : [];
    });
  return unread(parseDocument(read("helm/posthaste/values.yaml")).contents).map(
    (name) => `no template reads the value ${name} of values.yaml`,
  );
}

/** Options of tables (filters.ts, setting-help.ts) are read by the tables, so an option counts where its flag is written out. */
function unreadOptions() {
  const files = [...sourcesOf("apps/cli/src/**/*.ts")];
  const isOfCommand = ([file]) => file.includes("/commands/");
  const textOf = (some) => some.map(([, text]) => text).join("\n");
  const shared = textOf(files.filter((each) => !isOfCommand(each)));
  const flag =
    /(?:\.option|with(?:Value|Default))\((?:[^"]*"\w[^"]*")*[^"]*"(?:-\w, )?--([a-z-]+)/g;
  return files.flatMap((each) => {
    const [file, text] = each;
    const reading = isOfCommand(each) ? `${text}\n${shared}` : textOf(files);
    return [...text.matchAll(flag)]
      .map(([, name]) => name.replace(/-(\w)/g, (_, letter) => letter.toUpperCase()))
      .filter((name) => !isRead(reading, name, "options", "Options"))
      .map((name) => `${file} has the option ${name} and does not read it`);
  });
}

/** The sources without comments and tests, by file. */
function sourcesOf(pattern) {
  const files = globSync(pattern, { cwd: root, exclude: isForeign }).filter(
    (file) => !isOfTests.test(file),
  );
  return new Map(files.map((file) => [file, read(file).replace(/\/\*[^]*?\*\/|\/\/.*$/gm, "")]));
}

function read(file) {
  return readFileSync(join(root, file), "utf8");
}
