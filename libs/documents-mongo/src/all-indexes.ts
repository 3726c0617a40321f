/** All indexes of the database, which preparation/ builds. */
import { accountIndexes } from "./accounts.ts";
import { auditLogIndexes } from "./audit-log.ts";
import { deadLetterIndexes } from "./dead-letters.ts";
import { groupIndexes } from "./groups/groups.ts";
import { type Index } from "./indexes.ts";
import { messageLogIndexes } from "./message-log/message-log.ts";
import { recordIndexes } from "./messages/record-ports.ts";
import { rosterIndexes } from "./roster.ts";

export const allIndexes: readonly Index[] = [
  ...recordIndexes,
  ...deadLetterIndexes,
  ...groupIndexes,
  ...accountIndexes,
  ...auditLogIndexes,
  ...messageLogIndexes,
  ...rosterIndexes,
];
