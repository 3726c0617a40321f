import { testStores } from "@posthaste/testing";

const { mongodb } = testStores();
if (mongodb === undefined) throw new Error("these suites need MongoDB");

export const servers = [mongodb];
