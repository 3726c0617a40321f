import { type MessageId, type PublishCommand, type WholeSchedule } from "@posthaste/domain";

/** The message that a slot of a schedule makes, or the publish to its group. */
export type SlotMessage = {
  readonly schedule: WholeSchedule;
  readonly slot: number;
  readonly id: MessageId;
  readonly command: PublishCommand;
};
