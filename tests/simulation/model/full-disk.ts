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
  const ifRoom = async <T>(intake: Intake, write: () => Promise<T>): Promise<T> => {
    if (isFull && intake === "new") throw new StoreError("disk_full", "the disk is full");
    return write();
  };
  const { fanOuts, groups, records, runs, schedules } = ports;
  return {
    ports: {
      ...ports,
      records: {
        ...records,
        insert: (...given) => ifRoom(given[1], () => records.insert(...given)),
      },
      fanOuts: {
        ...fanOuts,
        insert: (...given) => ifRoom(given[1], () => fanOuts.insert(...given)),
      },
      runs: { ...runs, start: (...given) => ifRoom(given[2], () => runs.start(...given)) },
      schedules: {
        ...schedules,
        put: (...given) => ifRoom(given[1], () => schedules.put(...given)),
      },
      groups: {
        ...groups,
        replace: (...given) => ifRoom(given[4], () => groups.replace(...given)),
      },
    },
    fill: () => void (isFull = true),
  };
}
