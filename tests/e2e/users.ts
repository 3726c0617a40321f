/**
 * The four tenants of a suite, with their tokens and keys: those of the dev profile or, over services that suites share
 * (`shared-services.ts`), four of the suite's own.
 */
import { randomBytes } from "node:crypto";
import { type DevelopmentUser, developmentUsers } from "@posthaste/http";
import { sharedServices } from "./shared-services.ts";

/** As long as those of the dev profile, so that the token ends with padding, too. */
function newUser(): DevelopmentUser {
  const userId = `user-${randomBytes(3).toString("hex")}`;
  const password = { UserID: userId, Password: randomBytes(9).toString("hex").slice(0, 15) };
  const key = () => `sig_${randomBytes(14).toString("hex")}`;
  return {
    userId,
    token: Buffer.from(JSON.stringify(password)).toString("base64"),
    keys: { current: key(), next: key() },
  };
}

type Users = readonly [DevelopmentUser, DevelopmentUser, DevelopmentUser, DevelopmentUser];

export const users: Users =
  sharedServices() === undefined ? developmentUsers : [newUser(), newUser(), newUser(), newUser()];
export const [firstUser, secondUser] = users;
/** The first user's, where a suite asks for it. */
export const readOnlyToken = `read-only-${randomBytes(12).toString("hex")}`;
