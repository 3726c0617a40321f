export { Scheduler, type SchedulerPorts } from "./scheduler.ts";
