/** A permit for reads of a store by a test. */
import { type ReadPermit } from "@posthaste/contract";
import { createReads, type ReadPorts, type Reads, type ReadsIn } from "./reads.ts";

export const aReadPermit = { isTaken: () => true } as ReadPermit;

/** Reads over the ports that the test has. */
export const readsInOf = (ports: Partial<ReadPorts>): ReadsIn => createReads(ports as ReadPorts);
export const readsOf = (ports: Partial<ReadPorts>): Reads => readsInOf(ports)(aReadPermit);
