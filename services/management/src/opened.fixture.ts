import { type Embedded, openEmbedded } from "@posthaste/embedded";
import { openInMemory } from "@posthaste/testing/in-memory";

export const openStore = (): Embedded => openInMemory(openEmbedded).store;
