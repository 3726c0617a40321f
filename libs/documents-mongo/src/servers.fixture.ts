/** The servers of `npm run stack -- stores`, for the suites that run on each of them. */
import { testStores } from "@posthaste/testing";

export const servers = testStores().mongodb;
