import { type MessageId, type PublishCommand, type WholeSchedule } from "@posthaste/domain";

export type SlotMessage = {
  readonly schedule: WholeSchedule;
  readonly slot: number;
  readonly id: MessageId;
  readonly command: PublishCommand;
};
