/** What the process tells about itself: metrics to be read, traces to be sent. Both are off until they are asked for. */
import { variables } from "./variable.ts";
import { wholeNumber } from "./values.ts";

const subject = "Telemetry";
const portMax = 65_535;

export const telemetryShape = {
  metricsPort: wholeNumber(0, portMax)
    .optional()
    .register(variables, {
      subject,
      rule: `a whole number from 0 to ${portMax}`,
      summary:
        "Prometheus reads `/metrics` there, without a token, on the address of `POSTHASTE_HOST`. 0: any free port. Not set: nothing is listened on.",
    }),
};
