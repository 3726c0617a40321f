/** The six services that the suites of a run share (`start-services.ts`). Some suites start processes of their own. */

export type SharedServices = {
  readonly port: number;
  readonly managementPort: number;
  readonly room: string;
  readonly outputFile: string;
};

const variable = "POSTHASTE_TEST_SERVICES";

/** Returns undefined if each suite starts its own. */
export function sharedServices(): SharedServices | undefined {
  const text = process.env[variable];
  return text === undefined ? undefined : (JSON.parse(text) as SharedServices);
}

export function share(services: SharedServices): void {
  process.env[variable] = JSON.stringify(services);
}
