/** Attempts: how many at once, and which destinations they may call. */
import { variables } from "./variable.ts";
import { addressRanges, wholeNumber } from "./values.ts";

const subject = "Deliveries";

export const destinationsShape = {
  allowPrivateCidrs: addressRanges().register(variables, {
    subject,
    rule: "addresses or ranges (CIDR), separated by commas",
    summary:
      "Private networks that destinations may be in. All other networks that are not public are refused; the dev profile allows loopback.",
  }),
};

export const deliveriesShape = {
  ...destinationsShape,
  maxInFlight: wholeNumber(1, 100_000, {
    subject,
    summary:
      "Limit of attempts at once in this process that began less than a second ago. Each may hold a connection.",
    default: "1000",
  }),
  maxWaiting: wholeNumber(1, 1_000_000, {
    subject,
    summary:
      "Limit of attempts at once in this process that began earlier and wait for their answer, in addition. Each holds a connection, and 64 KiB.",
    default: "10000",
  }),
  maxPerOrigin: wholeNumber(1, 10_000, {
    subject,
    summary:
      "Limit of attempts of one tenant at once to one origin (scheme, host and port) from this process; for all tenants together a third more. An attempt that runs for longer than a minute does not count.",
    default: "100",
  }),
  maxInFlightMib: wholeNumber(1, 65_536, {
    subject,
    summary:
      "MiB of bodies that attempts hold in memory at once in this process. Bodies of up to 32 KiB are not counted.",
    default: "128",
  }),
  maxInlineHistoryKib: wholeNumber(1, 1_048_576, {
    subject,
    summary:
      "KiB of a run's history that are sent with a step to a client that can fetch the history. A longer history is fetched by the client: platforms refuse large requests.",
    default: "3072",
  }),
};
