/** The four tenants of the dev profile, with their tokens and keys. */
import { developmentUsers } from "@posthaste/http";

export const [firstUser, secondUser] = developmentUsers;
export const users = developmentUsers;
