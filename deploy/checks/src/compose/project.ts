/** docker-compose.yml as `docker compose` reads it. The types hold only the fields that checks read; its schema covers the rest. */
import { runComposeCheck } from "../tools/compose-check.ts";
import { type Texts } from "../environment.ts";

export type ComposeService = {
  readonly image: string;
  readonly command?: readonly string[];
  readonly environment?: Texts;
  readonly volumes?: readonly {
    readonly type: string;
    readonly source: string;
    readonly target: string;
    readonly read_only?: boolean;
  }[];
  readonly ports?: readonly { readonly host_ip?: string }[];
  readonly networks?: Readonly<Record<string, unknown>>;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test?: readonly string[] };
  readonly stop_grace_period?: string;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly mem_limit?: string;
  readonly pids_limit?: number;
  readonly network_mode?: string;
};

export type Project = {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean }>>;
};

/** Returns what `docker compose [--profile …] up` would start. Throws with the fault of the file. */
export async function loadProject(profiles: readonly string[] = []): Promise<Project> {
  const { code, stdout, stderr } = await runComposeCheck("docker-compose.yml", profiles);
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as Project;
}

/** Returns every service that must be up, healthy or completed before `name` starts, with that condition. */
export function gatesOf({ services }: Project, name: string): ReadonlyMap<string, string> {
  const gates = new Map<string, string>();
  const waiting = [name];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const [other, { condition }] of Object.entries(services[next]?.depends_on ?? {})) {
      if (!gates.has(other)) waiting.push(other);
      gates.set(other, condition);
    }
  }
  return gates;
}
