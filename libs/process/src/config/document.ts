/** Renders `docs/configuration.md` from the schemas. */
import { type z } from "zod";
import { callerVariables } from "./callers.ts";
import { describeDefault } from "./load.ts";
import { configSchemas } from "./services.ts";
import { environmentName, type Variable, variableOf } from "./variable.ts";

type Entry = {
  readonly key: string;
  readonly variable: Variable;
  readonly users: readonly { readonly service: string; readonly variable: Variable }[];
};

export function renderConfiguration(): string {
  const entries = entriesOf(configSchemas);
  const subjects = [...new Set(entries.map(({ variable }) => variable.subject))];
  return [
    introduction,
    ...subjects.map((subject) => section(subject, entries)),
    callers,
    notes,
  ].join("\n\n");
}

const introduction = `# Configuration

Made from the schemas in \`libs/process/src/config\` by \`npm run generate\`.

Everything is configured by environment variables. A process that finds a problem, an unknown \`POSTHASTE_\` variable
included, names all problems at once and does not start (exit code 78). An empty variable counts as not set. A variable
marked *secret* can be given as a file: \`POSTHASTE_TOKEN_FILE=/run/secrets/token\`.`;

const callers = [
  "## Of callers",
  "",
  "Other programs read these. A service ignores them, so that one shell may hold the variables of both. `POSTHASTE_TOKEN`,",
  "`POSTHASTE_MANAGEMENT_USER` and `POSTHASTE_MANAGEMENT_PASSWORD` are read by both sides: the command line needs the values that the service was started with.",
  "",
  "| Variable | Meaning |",
  "| --- | --- |",
  ...Object.entries(callerVariables).map(([name, about]) => `| \`${name}\` | ${about} |`),
].join("\n");

const notes = `## On Kubernetes

Set \`enableServiceLinks: false\` in the pod: a Service whose name begins with \`posthaste\` would otherwise put
\`POSTHASTE_…\` variables of its own into every pod.`;

function entriesOf(
  schemas: Readonly<Record<string, z.ZodObject<Readonly<Record<string, z.ZodType>>>>>,
): readonly Entry[] {
  // The standalone comes first and gives the order; variables that only other services have follow.
  const services = Object.entries(schemas).toReversed();
  const keys = new Set(services.flatMap(([, { shape }]) => Object.keys(shape)));
  return [...keys].flatMap((key) => {
    const users = services.flatMap(([service, { shape }]) => {
      const schema = shape[key];
      return schema ? [{ service, variable: variableOf(schema) }] : [];
    });
    const [first] = users;
    return first ? [{ key, variable: first.variable, users }] : [];
  });
}

function section(subject: string, entries: readonly Entry[]): string {
  const rows = entries.filter(({ variable }) => variable.subject === subject).map(row);
  return [
    `## ${subject}`,
    "",
    "| Variable | Must be | Default | Used by |",
    "| --- | --- | --- | --- |",
    ...rows,
  ].join("\n");
}

function row({ key, variable, users }: Entry): string {
  const name = `\`${environmentName(key)}\`${variable.secret ? " *secret*" : ""}`;
  return `| ${name}<br>${variable.summary} | ${variable.rule} | ${defaultsCell(users)} | ${usersCell(users)} |`;
}

/** Names the services that do not use the variable, if there are few. */
function usersCell(users: Entry["users"]): string {
  const names = users.map(({ service }) => service);
  const others = Object.keys(configSchemas).filter((service) => !names.includes(service));
  if (others.length === 0) return "all";
  return others.length <= exceptionsMax ? `all but ${others.join(", ")}` : names.join(", ");
}
const exceptionsMax = 2;

/** Returns the default of most services, then the exceptions: `8080; management: 8082`. */
function defaultsCell(users: Entry["users"]): string {
  const byText = Map.groupBy(users, ({ variable }) => shortDefault(variable));
  const [most, ...others] = [...byText].toSorted(([, a], [, b]) => b.length - a.length);
  const exceptions = others.map(
    ([text, itsUsers]) => `${itsUsers.map(({ service }) => service).join(", ")}: ${text}`,
  );
  return [most?.[0], ...exceptions].join("; ");
}

const shortDefault = (variable: Variable): string =>
  describeDefault(variable)
    .replace(/^default /, "")
    .replace("no default", "–");
