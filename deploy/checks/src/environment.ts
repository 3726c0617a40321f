/** What a service finds in its environment, held against what it reads. */
import { configSchemas, dumpConfig, loadConfig, type ServiceName } from "@posthaste/process";

/** Texts of secrets by the path that a `…_FILE` variable names. */
export type Files = Readonly<Record<string, string>>;
export type Texts = Readonly<Record<string, string>>;

const prefix = "POSTHASTE_";

/**
 * What is wrong, one sentence each: a variable that the service does not read, or whatever it would refuse at its start.
 * `inherited`: what the image brings for all services.
 */
export function problemsOf(
  service: ServiceName,
  env: Texts,
  files: Files,
  inherited: Texts = {},
): readonly string[] {
  const own = variablesOf(service);
  const unread = Object.keys(env).filter(
    (name) => name.startsWith(prefix) && !own.has(name) && !own.has(name.replace(/_FILE$/, "")),
  );
  const loaded = load(service, { ...inherited, ...env }, files);
  return [
    ...unread.map((name) => `${service} does not read ${name}`),
    ...(loaded.kind === "refused" ? loaded.message.split("\n") : []),
  ];
}

/** What the service would work with; throws where it would refuse to start. */
export function configOf(service: ServiceName, env: Texts, files: Files) {
  const loaded = load(service, env, files);
  if (loaded.kind === "refused") throw new Error(loaded.message);
  return loaded.config;
}

function load(service: ServiceName, env: Texts, files: Files) {
  const readFile = (path: string): string => {
    const text = files[path];
    if (text === undefined) throw Object.assign(new Error(path), { code: `ENOENT, ${path}` });
    return text;
  };
  return loadConfig<Shape>(configSchemas[service], { env, readFile });
}

/** Secrets that stand in the environment itself, where every child process and every dump shows them. */
export function openSecrets(service: ServiceName, env: Texts): readonly string[] {
  const own = variablesOf(service);
  return Object.keys(env).filter((name) => own.get(name) === "secret");
}

/** Each variable that a service reads; a secret one is also read as `…_FILE`. */
function variablesOf(service: ServiceName): ReadonlyMap<string, "secret" | "open"> {
  const { shape } = configSchemas[service];
  // The dump names variables as the environment does, and tells which it would not show.
  const dump = dumpConfig(
    configSchemas[service],
    Object.fromEntries(Object.keys(shape).map((key) => [key, "shown"])),
  );
  return new Map(
    Object.entries(dump).map(([name, text]) => [name, text === "shown" ? "open" : "secret"]),
  );
}

type Shape = Parameters<typeof dumpConfig>[0]["shape"];
