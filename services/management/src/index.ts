export { createManagement, managementHandler, type ManagementOptions } from "./management.ts";
export { type ManagementPorts } from "./ports.ts";
export { type SeedConfig, seedAccounts, type Seeded } from "./seed.ts";
