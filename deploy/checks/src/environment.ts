/** Compares the environment of a service with the variables that it reads. */
import { configSchemas, dumpConfig, loadConfig, type ServiceName } from "@posthaste/process";

/** Secrets by the path in a `…_FILE` variable. */
export type Files = Readonly<Record<string, string>>;
export type Texts = Readonly<Record<string, string>>;

const prefix = "POSTHASTE_";

/**
 * Returns the problems, a sentence each: variables that the service does not read, and values that it would refuse at
 * its start. `inherited`: the image's variables for all services.
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

/** Returns the service's configuration. Throws where the service would refuse to start. */
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

/** Returns the secrets that are in the environment itself, visible to every child process and dump. */
export function openSecrets(service: ServiceName, env: Texts): readonly string[] {
  const own = variablesOf(service);
  return Object.keys(env).filter((name) => own.get(name) === "secret");
}

/** Returns each variable that a service reads. A secret one may also be given as `…_FILE`. */
function variablesOf(service: ServiceName): ReadonlyMap<string, "secret" | "open"> {
  const { shape } = configSchemas[service];
  // The dump names variables as the environment does, and marks the secret ones.
  const dump = dumpConfig(
    configSchemas[service],
    Object.fromEntries(Object.keys(shape).map((key) => [key, "shown"])),
  );
  return new Map(
    Object.entries(dump).map(([name, text]) => [name, text === "shown" ? "open" : "secret"]),
  );
}

type Shape = Parameters<typeof dumpConfig>[0]["shape"];
