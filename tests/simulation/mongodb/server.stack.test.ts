/** The server in memory is compared with a real one: the same documents, filters and updates give the same results. */
import { afterAll, beforeAll, describe, expect, it, jest } from "@jest/globals";
import { testStores } from "@posthaste/testing";
import fc from "fast-check";
import { type Collection, MongoClient } from "mongodb";
import { MemoryCollection } from "./collection.ts";
import { Server } from "./server.ts";
import { isPlain, type Plain } from "./values.ts";

const { mongodb } = testStores();
if (mongodb === undefined) throw new Error("this suite needs MongoDB");
jest.setTimeout(120_000);
const runs = 150;

const scalar = fc.constantFrom(0, 1, 2, 7, "a", "b", "", null, true);
const number = fc.integer({ min: 0, max: 4 });
const id = fc.constantFrom("one", "two", "three", "four");
const some = <T extends Record<string, fc.Arbitrary<unknown>>>(fields: T) =>
  fc.record(fields, { requiredKeys: [] }) as fc.Arbitrary<Plain>;

const item = some({ kind: scalar, n: number });
const fields = {
  a: scalar,
  b: scalar,
  n: number,
  within: some({ x: scalar, n: number }),
  list: fc.array(scalar, { maxLength: 3 }),
  items: fc.array(item, { maxLength: 3 }),
};
const document = fc.tuple(id, some(fields)).map(([_id, given]): Plain => ({ _id, ...given }));
const documents = fc.uniqueArray(document, { maxLength: 4, selector: ({ _id }) => _id });

const bound = fc
  .tuple(
    fc.constantFrom("$gt", "$gte", "$lt", "$lte"),
    scalar.filter((each) => each !== null),
  )
  .map(([operator, operand]): Plain => ({ [operator]: operand }));
const test = fc.oneof(
  scalar,
  bound,
  fc.array(scalar, { maxLength: 3 }).map((values): Plain => ({ $in: values })),
  fc.array(scalar, { maxLength: 3 }).map((values): Plain => ({ $nin: values })),
  fc.boolean().map((exists): Plain => ({ $exists: exists })),
  fc.tuple(bound, fc.boolean()).map(([of, exists]): Plain => ({ ...of, $exists: exists })),
  scalar.map((value): Plain => ({ $ne: value })),
  bound.map((of): Plain => ({ $not: of })),
  fc.constantFrom<Plain>({ $regex: "^a" }, { $eq: "b" }),
);
const condition = fc.oneof(
  some({ a: test, b: test, n: test, "within.x": test }),
  some({
    _id: fc.oneof(
      id,
      fc.array(id, { maxLength: 3 }).map((ids): Plain => ({ $in: ids })),
    ),
    "within.n": bound,
  }),
  some({
    list: fc.oneof(
      scalar,
      number.map((size): Plain => ({ $size: size })),
      fc.array(scalar, { maxLength: 2 }),
    ),
    "list.0": fc.boolean().map((exists): Plain => ({ $exists: exists })),
  }),
  some({ "items.kind": scalar.filter((each) => each !== null), "items.0.n": number }),
  some({ items: some({ kind: test, n: number }).map((of): Plain => ({ $elemMatch: of })) }).filter(
    ({ items }) => !isPlain(items) || Object.keys(items["$elemMatch"] as Plain).length > 0,
  ),
  fc
    .tuple(fc.constantFrom("$gt", "$gte"), number)
    .map(([operator, n]): Plain => ({ $expr: { [operator]: [{ $add: ["$n", "$within.n"] }, n] } })),
);
const filter = fc.oneof(
  condition,
  fc
    .tuple(fc.constantFrom("$or", "$and"), fc.array(condition, { minLength: 1, maxLength: 3 }))
    .map(([operator, all]): Plain => ({ [operator]: all })),
);

const expression = fc.constantFrom<unknown>(
  "$a",
  "$missing",
  { $add: ["$n", 1] },
  { $subtract: ["$n", "$within.n"] },
  { $max: ["$n", "$within.n", 2] },
  { $min: ["$n", "$within.n"] },
  { $ifNull: ["$a", "$b", "none"] },
  { $eq: ["$n", 1] },
  { $cond: [{ $eq: ["$n", "$within.n"] }, "$$REMOVE", { $min: ["$a", 2] }] },
  { $arrayElemAt: ["$list", 0] },
  { $indexOfArray: [{ $literal: ["one", "two"] }, "$_id"] },
  { $literal: "$a" },
);
const isSome = (update: Plain | readonly Plain[]): boolean => Object.keys(update).length > 0;
const update: fc.Arbitrary<Plain | Plain[]> = fc
  .oneof(
    some({
      $set: some({ a: scalar, "within.x": scalar }),
      $unset: fc.constantFrom<Plain>({}, { b: "" }),
      $inc: some({ n: number, "within.n": number }),
      $push: some({
        list: fc.oneof(
          scalar,
          fc
            .tuple(fc.array(scalar, { maxLength: 2 }), fc.constantFrom(-2, -1, 1, 2))
            .map(([$each, $slice]): Plain => ({ $each, $slice })),
        ),
      }),
      $pull: some({ items: some({ kind: test, n: number }) }),
    }),
    some({
      $min: some({ a: scalar, n: number }),
      $max: some({ b: scalar, "within.n": number }),
      $rename: fc.constantFrom<Plain>({}, { list: "renamed" }),
      $setOnInsert: fc.constant<Plain>({ made: true }),
    }),
    some({ a: expression, made: expression }).map((to) => [{ $set: to }]),
    fc.constantFrom<Plain[]>(
      [{ $replaceWith: { $mergeObjects: ["$$ROOT", { a: 9, made: "$items" }] } }],
      [{ $set: { a: "$b" } }, { $unset: ["b", "within.x"] }],
    ),
  )
  .filter(isSome);
const statement: fc.Arbitrary<Plain> = fc.oneof(
  fc.record({ filter, update }).map((of): Plain => ({ updateOne: of })),
  fc.record({ filter, update }).map((of): Plain => ({ updateMany: of })),
  fc
    .record({ filter: fc.record({ _id: id, b: scalar }), update, upsert: fc.constant(true) })
    .map((of): Plain => ({ updateOne: of })),
  fc
    .record({ filter: fc.record({ _id: id }), replacement: some(fields), upsert: fc.boolean() })
    .map((of): Plain => ({ replaceOne: of })),
  filter.map((of): Plain => ({ deleteMany: { filter: of } })),
);
const projection = fc.constantFrom<Plain | undefined>(
  undefined,
  { a: 1 },
  { _id: 1 },
  { _id: 0, "within.x": 1, "items.kind": 1 },
  { a: 0, "items.n": 0, "within.n": 0 },
  { list: { $slice: 1 }, n: 1 },
  { n: 1, isSet: { $gt: ["$a", null] } },
);

type Steps = {
  readonly documents: readonly Plain[];
  readonly statement: Plain;
  readonly read: Plain;
  readonly projection: Plain | undefined;
  readonly by: "a" | "b" | "within.x";
  readonly update: Plain | readonly Plain[];
};

/** Takes the same steps in either collection. */
async function carryOut(collection: Collection, steps: Steps): Promise<unknown> {
  const { read, by } = steps;
  await collection.deleteMany({});
  if (steps.documents.length > 0)
    await collection.insertMany(structuredClone([...steps.documents]), { ordered: false });
  const order = { [by]: -1, _id: 1 } as const;
  const all = () => collection.find({}).sort({ _id: 1 }).toArray();
  const written = await outcome(async () => {
    const { matchedCount, deletedCount } = await collection.bulkWrite(
      [steps.statement] as unknown as Parameters<Collection["bulkWrite"]>[0],
      { ordered: false },
    );
    return { matchedCount, deletedCount };
  });
  const after = await all();
  const found = await collection
    .find(read, steps.projection ? { projection: steps.projection } : {})
    .sort(order)
    .skip(1)
    .limit(2)
    .toArray();
  const change = (returnDocument: "before" | "after") =>
    outcome(() =>
      collection.findOneAndUpdate({ ...read, _id: "one" } as object, steps.update, {
        ...{ projection: { a: 1 }, returnDocument },
      }),
    );
  const changed = [await change("before"), await change("after")];
  return {
    ...{ written, after, found, changed },
    count: await collection.countDocuments(read, { limit: 2 }),
    distinct: new Set(await collection.distinct("list", read)),
    first: await collection.findOne(read, { sort: order }),
    all: await all(),
  };
}

/** Resolves to the code of a refusal as a duplicate. */
async function outcome(task: () => Promise<unknown>): Promise<unknown> {
  try {
    return await task();
  } catch (error) {
    const code: unknown = Error.isError(error) && "writeErrors" in error ? "duplicate" : undefined;
    if (code === undefined) throw error;
    return code;
  }
}

describe(mongodb.name, () => {
  const client = new MongoClient(mongodb.uri);
  const database = client.db(`memory_${Date.now().toString(36)}`);

  beforeAll(async () => void (await client.connect()));
  afterAll(async () => {
    await database.dropDatabase();
    await client.close();
  });

  it("changes documents exactly as the server in memory does, for every request of the adapter", async () => {
    const real = database.collection("documents");
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          ...{ documents, statement, read: filter, projection, update },
          by: fc.constantFrom("a", "b", "within.x"),
        }),
        async (steps) => {
          const server = new Server({ between: async () => undefined });
          const call = <T>(_: string, effect: () => Promise<T>): Promise<T> => effect();
          const memory = new MemoryCollection("documents", { server, by: "a test", call });

          const expected = await carryOut(real, steps);

          expect(await carryOut(memory as unknown as Collection, steps)).toEqual(expected);
        },
      ),
      { numRuns: runs },
    );
  });
});
