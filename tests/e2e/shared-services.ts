/** Six services that the suites of a run share, but for those that want processes of their own (`start-services.ts`). */

export type SharedServices = {
  /** Of the gateway. */
  readonly port: number;
  readonly managementPort: number;
  /** Names their database. */
  readonly room: string;
};

const variable = "POSTHASTE_TEST_SERVICES";

/** Undefined where each suite starts its own. */
export function sharedServices(): SharedServices | undefined {
  const text = process.env[variable];
  return text === undefined ? undefined : (JSON.parse(text) as SharedServices);
}

/** For the processes that Jest starts after this. */
export function share(services: SharedServices): void {
  process.env[variable] = JSON.stringify(services);
}
