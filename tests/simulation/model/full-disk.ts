/** The disk under a model: while it is full, new work is refused, and work that continues accepted messages is written. */
import {
  type Groups,
  type Intake,
  type RecordPorts,
  type Schedules,
  StoreError,
} from "@posthaste/ports";

type Ports = RecordPorts & { readonly groups: Groups; readonly schedules: Schedules };

export function overDisk<P extends Ports>(
  ports: P,
): { readonly ports: P; readonly fill: () => void } {
  let isFull = false;
  const room = (intake: Intake): void => {
    if (isFull && intake === "new") throw new StoreError("disk_full", "the disk is full");
  };
  const { fanOuts, groups, records, runs, schedules } = ports;
  return {
    ports: {
      ...ports,
      records: {
        ...records,
        insert: async (inserts, intake) => {
          room(intake);
          return records.insert(inserts, intake);
        },
      },
      fanOuts: {
        ...fanOuts,
        insert: async (fanOut, intake, deduplication) => {
          room(intake);
          return fanOuts.insert(fanOut, intake, deduplication);
        },
      },
      runs: {
        ...runs,
        start: async (tenant, id, intake, make) => {
          room(intake);
          return runs.start(tenant, id, intake, make);
        },
      },
      schedules: {
        ...schedules,
        put: async (schedule, intake) => {
          room(intake);
          return schedules.put(schedule, intake);
        },
      },
      groups: {
        ...groups,
        replace: async (tenant, name, version, endpoints, intake) => {
          room(intake);
          return groups.replace(tenant, name, version, endpoints, intake);
        },
      },
    },
    fill: () => void (isFull = true),
  };
}
