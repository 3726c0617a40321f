/** A seat for reads of a store by a test. */
import { type Seat } from "@posthaste/contract";
import { createReads, type ReadPorts, type Reads, type ReadsIn } from "./reads.ts";

export const aSeat = { isTaken: () => true } as Seat;

/** Reads over the ports that the test has. */
export const readsInOf = (ports: Partial<ReadPorts>): ReadsIn => createReads(ports as ReadPorts);
export const readsOf = (ports: Partial<ReadPorts>): Reads => readsInOf(ports)(aSeat);
