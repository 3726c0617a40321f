export { type SeedConfig, seedAccounts, type Seeded } from "./seed.ts";
