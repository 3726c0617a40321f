/** The heads of groups: one document for each group, which lists the chunks of its newest version. */
import { type Group, type GroupChunkId, type Headers, type TenantId } from "@posthaste/domain";
import { type Groups } from "@posthaste/ports";
import { type Connection } from "../connection.ts";
import { type Index } from "../indexes.ts";
import { insertMissing } from "../writes/insert-missing.ts";

const collection = "groups";

export const headIndexes: readonly Index[] = [
  { collection, key: { tenant: 1, name: 1 }, is: "needed" },
  { collection, key: { chunks: 1 }, is: "needed" },
];

/**
 * `swap` names the write that made this version: a try whose reply was lost recognizes its own write by this name
 * (docs/design/record#writes-whose-answer-was-lost).
 */
type Head = Group & { readonly _id: string; readonly swap: string };

export type Heads = {
  readonly find: (tenant: TenantId, name: string) => Promise<Group | undefined>;
  readonly list: Groups["list"];
  readonly count: Groups["count"];
  /** Replaces version `version` by `next`, or adds `next` if `version` is undefined. Resolves to false if another version is stored. */
  readonly swap: (next: Group, version: number | undefined) => Promise<boolean>;
  readonly configure: (
    tenant: TenantId,
    name: string,
    headers: Headers,
    updatedAt: number,
  ) => Promise<boolean>;
  readonly remove: (tenant: TenantId, name: string, version: number | undefined) => Promise<void>;
  readonly listed: (chunks: readonly GroupChunkId[]) => Promise<ReadonlySet<GroupChunkId>>;
};

const swapLength = 20;

export function createHeads({ again, collection: open, heavy, random }: Connection): Heads {
  const heads = open<Head>(collection);
  const pages = heavy.collection<Head>(collection);

  return {
    find: async (tenant, name) => {
      const head = await again(() => heads.findOne({ _id: keyOf(tenant, name), tenant, name }));
      return head ? groupFrom(head) : undefined;
    },
    list: async (tenant, { after, limit }) => {
      const page = { tenant, name: { $gt: after } };
      const found = await heavy.again(tenant)(() =>
        pages.find(page).sort({ name: 1 }).limit(limit).maxTimeMS(heavy.msMax).toArray(),
      );
      return found.map(groupFrom);
    },
    count: (tenant, countMax) => again(() => heads.countDocuments({ tenant }, { limit: countMax })),
    swap: async (next, version) => {
      const _id = keyOf(next.tenant, next.name);
      const swap = random.text(swapLength);
      const isDone =
        version === undefined
          ? await insert({ ...next, _id, swap })
          : await update(_id, version, { ...next, swap });
      return isDone || (await again(() => heads.findOne({ _id, swap }))) !== null;
    },
    // A swap sets other fields, so neither write undoes the other.
    configure: async (tenant, name, headers, updatedAt) => {
      const _id = keyOf(tenant, name);
      const change =
        headers.length > 0
          ? { $set: { headers, updatedAt } }
          : { $set: { updatedAt }, $unset: { headers: "" as const } };
      return (await again(() => heads.updateOne({ _id }, change))).matchedCount > 0;
    },
    remove: async (tenant, name, version) => {
      const condition = { _id: keyOf(tenant, name), ...(version !== undefined && { version }) };
      await again(() => heads.deleteOne(condition));
    },
    listed: async (chunks) => {
      const wanted = { chunks: { $in: [...chunks] } };
      const found = await again(() => heads.find(wanted, { projection: { chunks: 1 } }).toArray());
      return new Set(found.flatMap((head) => head.chunks));
    },
  };

  async function insert(head: Head): Promise<boolean> {
    return (await insertMissing(again, heads, [head])).size === 0;
  }

  async function update(_id: string, version: number, to: Omit<Head, "_id">): Promise<boolean> {
    const { matchedCount } = await again(() => heads.updateOne({ _id, version }, { $set: to }));
    return matchedCount > 0;
  }
}

const keyOf = (tenant: TenantId, name: string): string => `${tenant}/${name}`;

const groupFrom = ({ _id, swap: _, ...group }: Head): Group => group;
