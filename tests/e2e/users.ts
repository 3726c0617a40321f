/**
 * The four tenants of a suite, with their tokens and keys: those of the dev profile or, over processes that suites share
 * (`shared-services.ts`, `shared-standalones.ts`), four of the suite's own.
 */
import { hash, randomUUID } from "node:crypto";
import { type DevelopmentUser, developmentUsers } from "@posthaste/http";
import { sharedServices } from "./shared-services.ts";
import { sharedStandalone, takeSuiteNumber } from "./shared-standalones.ts";

type Users = readonly [DevelopmentUser, DevelopmentUser, DevelopmentUser, DevelopmentUser];

export type SuiteUsers = {
  readonly users: Users;
  /** The first user's, where a suite asks for it. */
  readonly readOnlyToken: string;
};

export function usersOfSuite(suite: string): SuiteUsers {
  const secret = (of: string, length: number): string =>
    hash("sha256", `${suite} ${of}`).slice(0, length);
  /** As long as those of the dev profile, so that the token ends with padding, too. */
  const user = (number: number): DevelopmentUser => {
    const userId = `user-${secret(`id ${number}`, 6)}`;
    const password = { UserID: userId, Password: secret(`password ${number}`, 15) };
    const key = (name: string) => `sig_${secret(`${name} ${number}`, 28)}`;
    return {
      userId,
      token: Buffer.from(JSON.stringify(password)).toString("base64"),
      keys: { current: key("current"), next: key("next") },
    };
  };
  return {
    users: [user(0), user(1), user(2), user(3)],
    readOnlyToken: `read-only-${secret("read-only", 24)}`,
  };
}

function usersOfThisSuite(): SuiteUsers {
  if (sharedStandalone()) return usersOfSuite(String(takeSuiteNumber()));
  const own = usersOfSuite(randomUUID());
  return sharedServices() ? own : { ...own, users: developmentUsers };
}

/** Reports whether the suite's users are not those that the dev profile makes. */
export const areOwnUsers = sharedServices() !== undefined || sharedStandalone() !== undefined;
export const { users, readOnlyToken } = usersOfThisSuite();
export const [firstUser, secondUser] = users;
