export { type Cron, isKnownCron, parseCron, storedCron } from "./cron.ts";
export { commandAt, fired, type Firing, firingOf } from "./fire.ts";
export { nextSlot } from "./next-slot.ts";
export {
  changed,
  type LastSlot,
  newSchedule,
  paused,
  replaced,
  resumed,
  type Schedule,
  type ScheduleCommand,
  scheduleUidLength,
  stopped,
  type WholeSchedule,
} from "./schedule.ts";
