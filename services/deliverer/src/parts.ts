/** The parts of a deliverer that all its other parts share. */
import { type Owner } from "@posthaste/domain";
import { type Telemetry } from "@posthaste/ports";
import { type Acceptance } from "./attempts/acceptance.ts";
import { type Attempts } from "./attempts/attempts.ts";
import { type Lines } from "./lines/lines.ts";
import { type Permits } from "./permits/permits.ts";

export type SharedParts = {
  readonly owner: Owner;
  readonly telemetry: Telemetry;
  readonly acceptance: Acceptance;
  readonly attempts: Attempts;
  readonly lines: Lines;
  readonly permits: Permits;
};
