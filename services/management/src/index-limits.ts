import { type SearchIndexType } from "@posthaste/domain";
import { type SearchIndexLimits } from "@posthaste/ports";

const unlimited = -1;
const gibibyte = 1024 ** 3;

const metered: SearchIndexLimits = {
  vectorsMax: 2_000_000_000,
  monthlyReranksMax: unlimited,
  dailyUpdatesMax: unlimited,
  dailyQueriesMax: unlimited,
  monthlyBandwidthBytesMax: unlimited,
  writesPerSecondMax: 1_000,
  queriesPerSecondMax: 1_000,
  readsPerRequestMax: 1_000,
  writesPerRequestMax: 1_000,
};

const free: SearchIndexLimits = {
  ...metered,
  vectorsMax: 200_000,
  monthlyReranksMax: 1_000,
  dailyUpdatesMax: 10_000,
  dailyQueriesMax: 10_000,
  monthlyBandwidthBytesMax: 50 * gibibyte,
};

export function limitsOfType(type: SearchIndexType): SearchIndexLimits {
  switch (type) {
    case "free":
      return free;
    case "payg":
    case "fixed":
      return metered;
  }
}
