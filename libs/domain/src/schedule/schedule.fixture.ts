import { aSchedule as made, aScheduleCommand } from "@posthaste/testing";
import { type WholeSchedule } from "./schedule.ts";

/** 2026-03-02, a Monday, at noon in UTC. */
export const noon = Date.UTC(2026, 2, 2, 12);
export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;

export const aSchedule = (text?: string): WholeSchedule =>
  made("scd_1", aScheduleCommand(text), noon);
