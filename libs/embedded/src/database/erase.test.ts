import { expect, it } from "@jest/globals";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { defaultPlan, tenantId } from "@posthaste/domain";
import { type SearchIndex } from "@posthaste/ports";
import { newDirectory, openIn } from "../opened.fixture.ts";

const names = ["one", "two", "three", "four", "five"];

const tenantCalled = (name: string) => ({
  id: tenantId(name),
  dialect: "service" as const,
  plan: defaultPlan,
  keys: { current: `canary-current-of-${name}`, next: `canary-next-of-${name}` },
});

const indexCalled = (name: string): SearchIndex => ({
  id: name,
  owner: tenantId(name),
  name,
  endpoint: "search.example",
  type: "free",
  region: "eu-west-1",
  partnerEmail: "",
  tokens: { full: `canary-full-of-${name}`, readOnly: `canary-read-only-of-${name}` },
  limits: {
    vectorsMax: 1,
    monthlyReranksMax: 1,
    dailyUpdatesMax: 1,
    dailyQueriesMax: 1,
    monthlyBandwidthBytesMax: 1,
    writesPerSecondMax: 1,
    queriesPerSecondMax: 1,
    readsPerRequestMax: 1,
    writesPerRequestMax: 1,
  },
  inputEnrichment: false,
  createdAt: 1,
  throughput: [],
});

it("changed or removed data of accounts and indexes is in no file once the store is closed", async () => {
  const dataDir = newDirectory();
  const files = () =>
    readdirSync(dataDir)
      .map((name) => readFileSync(join(dataDir, name), "latin1"))
      .join();
  const before = openIn(dataDir);
  for (const name of names) {
    await before.accounts.addTenant(tenantCalled(name));
    await before.accounts.secret(name, () => `canary-secret-of-${name}`);
    await before.indexes.add(indexCalled(name));
    await before.indexes.add(indexCalled(`removed ${name}`));
  }
  await before.close();
  expect(files().match(/canary-\w+/g)?.length).toBeGreaterThanOrEqual(names.length * 7);

  const after = openIn(dataDir);
  for (const name of names) {
    const keys = { current: "x", next: "x" };
    await after.accounts.changeTenant(tenantId(name), (tenant) => ({ ...tenant, keys }));
    await after.accounts.changeSecret(name, () => "x");
    const tokens = { full: "x", readOnly: "x" };
    await after.indexes.change(name, (index) => ({ ...index, tokens }));
    await after.indexes.remove(`removed ${name}`);
  }
  await after.close();

  expect(files()).not.toContain("canary");
});
