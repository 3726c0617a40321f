/**
 * `/v2/search`: search indexes (docs/design/wire#search-indexes). The program that serves them reports their addresses and their
 * load.
 */
import {
  type CreateSearchIndex,
  type SearchIndexJson,
  type searchIndexes,
} from "@posthaste/contract";
import { fault, type Fault, isFault, type TenantId } from "@posthaste/domain";
import { indexPages, type Random, type SearchIndex } from "@posthaste/ports";
import { limitsOfType } from "../index-limits.ts";
import { listTexts } from "@posthaste/http";
import { type ManagementPorts, type HandlerParts } from "../ports.ts";
import { findTenant } from "../tenants.ts";
import { newUuid } from "../uuid.ts";
import { type Handlers } from "./handler.ts";

/** Bound the size of the list together. */
const indexesMax = 1_000;
const samplesMax = 100;
const tokenLength = 43;

export const searchIndexHandlers = (ports: HandlerParts): Handlers<keyof typeof searchIndexes> => ({
  listSearchIndexes: async () => ({
    status: 200,
    read: async (permit) => ({ pieces: listTexts(indexJsons(ports.reads(permit).indexes())) }),
  }),
  enterSearchIndex: async ({ body }) => {
    const index = await enter(ports, body);
    return isFault(index) ? index : { status: 201, json: indexJson(index) };
  },
  readSearchIndex: async ({ param }) => shown(await ports.indexes.get(param("id"))),
  strikeSearchIndex: async ({ param }) => {
    if (!(await ports.indexes.get(param("id")))) return unknownIndex;
    await ports.indexes.remove(param("id"));
    return { status: 200 };
  },
  rotateSearchIndexTokens: async ({ param }) => {
    const tokens = newTokens(ports.random);
    return shown(await ports.indexes.change(param("id"), (index) => ({ ...index, tokens })));
  },
  reportThroughput: async ({ param, body }) => {
    const sample = { at: ports.clock.now(), value: body.y };
    const sampled = (index: SearchIndex): SearchIndex => ({
      ...index,
      throughput: [...index.throughput, sample].slice(-samplesMax),
    });
    return shown(await ports.indexes.change(param("id"), sampled));
  },
});

async function* indexJsons(
  pages: AsyncIterable<readonly SearchIndex[]>,
): AsyncGenerator<readonly SearchIndexJson[]> {
  for await (const page of pages) yield page.map(indexJson);
}

const unknownIndex: Fault = fault("not_found", "search index not found");

const shown = (index: SearchIndex | undefined) =>
  index ? { status: 200 as const, json: indexJson(index) } : unknownIndex;

const newTokens = (random: Random): SearchIndex["tokens"] => ({
  full: random.text(tokenLength),
  readOnly: random.text(tokenLength),
});

async function enter(
  ports: ManagementPorts,
  wanted: CreateSearchIndex,
): Promise<SearchIndex | Fault> {
  const owner = await findTenant(ports.accounts, wanted.customer_id);
  if (isFault(owner)) return fault("malformed", `customer_id: ${owner.text}`);
  let count = 0;
  for await (const page of indexPages(ports.indexes)) count += page.length;
  if (count >= indexesMax)
    return fault("beyond_plan", `there are ${indexesMax} search indexes already`);
  const index = newIndex(ports, wanted, owner.id);
  await ports.indexes.add(index);
  return index;
}

function newIndex(
  { clock, random }: ManagementPorts,
  wanted: CreateSearchIndex,
  owner: TenantId,
): SearchIndex {
  const defaults = limitsOfType(wanted.type);
  return {
    id: newUuid(random),
    owner,
    name: wanted.name,
    endpoint: wanted.endpoint,
    type: wanted.type,
    region: wanted.region,
    partnerEmail: wanted.partner_email ?? "",
    tokens: newTokens(random),
    limits: {
      vectorsMax: wanted.max_vector_count ?? defaults.vectorsMax,
      monthlyReranksMax: wanted.max_monthly_reranks ?? defaults.monthlyReranksMax,
      dailyUpdatesMax: wanted.max_daily_updates ?? defaults.dailyUpdatesMax,
      dailyQueriesMax: wanted.max_daily_queries ?? defaults.dailyQueriesMax,
      monthlyBandwidthBytesMax: wanted.max_monthly_bandwidth ?? defaults.monthlyBandwidthBytesMax,
      writesPerSecondMax: wanted.max_writes_per_second ?? defaults.writesPerSecondMax,
      queriesPerSecondMax: wanted.max_query_per_second ?? defaults.queriesPerSecondMax,
      readsPerRequestMax: wanted.max_reads_per_request ?? defaults.readsPerRequestMax,
      writesPerRequestMax: wanted.max_writes_per_request ?? defaults.writesPerRequestMax,
    },
    inputEnrichment: wanted.input_enrichment_enabled ?? false,
    createdAt: clock.now(),
    throughput: [],
  };
}

const indexJson = (index: SearchIndex): SearchIndexJson => ({
  customer_id: index.owner,
  id: index.id,
  name: index.name,
  endpoint: index.endpoint,
  type: index.type,
  region: index.region,
  partner_email: index.partnerEmail,
  token: index.tokens.full,
  read_only_token: index.tokens.readOnly,
  max_vector_count: index.limits.vectorsMax,
  max_monthly_reranks: index.limits.monthlyReranksMax,
  max_daily_updates: index.limits.dailyUpdatesMax,
  max_daily_queries: index.limits.dailyQueriesMax,
  max_monthly_bandwidth: index.limits.monthlyBandwidthBytesMax,
  max_writes_per_second: index.limits.writesPerSecondMax,
  max_query_per_second: index.limits.queriesPerSecondMax,
  max_reads_per_request: index.limits.readsPerRequestMax,
  max_writes_per_request: index.limits.writesPerRequestMax,
  creation_time: Math.floor(index.createdAt / 1_000),
  input_enrichment_enabled: index.inputEnrichment,
  throughput_vector: index.throughput.map(({ at, value }) => ({
    x: new Date(at).toISOString(),
    y: value,
  })),
});
