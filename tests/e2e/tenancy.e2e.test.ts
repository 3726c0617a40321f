/**
 * Tests tenants (docs/design/security#authentication): no tenant sees another's things, on every route, for each pair of the
 * four users.
 */
import { beforeAll, describe, expect, it } from "@jest/globals";
import { Client, eventually } from "./client.ts";
import { always } from "./destination.ts";
import { service } from "./dialects.ts";
import { textOf } from "./json.ts";
import { users } from "./users.ts";
import { destination, server, startBeforeTests } from "./suite.ts";

type Estate = {
  readonly user: string;
  readonly client: Client;
  readonly held: string;
  readonly failed: string;
  readonly dlqId: string;
  readonly cursors: { readonly dlq: string; readonly events: string };
};

startBeforeTests();

let estates: readonly Estate[];

beforeAll(async () => {
  destination.answers("/fails", always(500));
  estates = await Promise.all(users.map(({ userId, token }) => settle(userId, token)));
});

/** Makes one of everything. All tenants use the same names, labels, keys and deduplication ids. */
async function settle(user: string, token: string): Promise<Estate> {
  const client = new Client(server.port, token);
  const shared = {
    Label: "shared",
    "Flow-Control-Key": "shared",
    "Flow-Control-Value": "parallelism=5",
    "Deduplication-Id": "shared",
    Delay: "1h",
  };
  const held = await client.published(destination.url(`/${user}`), service(shared), user);
  const failing = service({ Label: "shared", Retries: "0" });
  await client.published(destination.url("/fails"), failing);
  const failed = await client.published(destination.url("/fails"), failing);
  const endpoints = JSON.stringify({ endpoints: [{ url: destination.url(`/group/${user}`) }] });
  await client.post("/v2/topics/shared/endpoints", {}, endpoints);
  const letters = await eventually(
    () => client.listed("/v2/dlq", "messages"),
    ({ length }) => length === 2,
  );
  const cursor = async (path: string): Promise<string> =>
    textOf((await client.get(path)).object()["cursor"]);
  return {
    user,
    client,
    held,
    failed,
    dlqId: textOf(letters.find(({ messageId }) => messageId === failed)?.["dlqId"]),
    cursors: { dlq: await cursor("/v2/dlq?count=1"), events: await cursor("/v2/events?count=1") },
  };
}

const others = (own: Estate): readonly Estate[] => estates.filter(({ user }) => user !== own.user);

describe.each(users.map(({ userId }) => userId))("%s", (user) => {
  const own = (): Estate => {
    const found = estates.find((estate) => estate.user === user);
    if (!found) throw new Error(`no ${user}`);
    return found;
  };

  it("200 reads its own data", async () => {
    const { client, held, dlqId } = own();

    const statuses = await Promise.all(
      [`/v2/messages/${held}`, `/v2/dlq/${dlqId}`, "/v2/topics/shared"].map(
        async (path) => (await client.get(path)).status,
      ),
    );

    expect(statuses).toEqual([200, 200, 200]);
  });

  it("404 finds no other tenant's message or dead letter, to read or to remove", async () => {
    for (const { held, failed, dlqId } of others(own())) {
      for (const path of [`/v2/messages/${held}`, `/v2/messages/${failed}`, `/v2/dlq/${dlqId}`]) {
        const read = await own().client.get(path);
        const removed = await own().client.delete(path);

        expect({ path, read: read.status, removed: removed.status }).toEqual({
          path,
          read: 404,
          removed: 404,
        });
      }
    }
  });

  it("lists its own only, whatever it filters by", async () => {
    const { client, held, failed } = own();
    const foreign = others(own()).flatMap((estate) => [estate.held, estate.failed]);
    const foreignIds = foreign.join(",");

    const lists = [
      ...(await client.listed("/v2/dlq", "messages")),
      ...(await client.listed("/v2/dlq?label=shared", "messages")),
      ...(await client.listed("/v2/events", "events")),
      ...(await client.listed("/v2/events?label=shared&flowControlKey=shared", "events")),
      ...(await client.listed("/v2/logs?groupBy=messageId", "messages")),
    ];
    const asked = [
      ...(await client.listed(`/v2/dlq?messageId=${foreignIds}`, "messages")),
      ...(
        await client.get(
          `/v2/dlq?dlqIds=${others(own())
            .map(({ dlqId }) => dlqId)
            .join(",")}`,
        )
      ).list("messages"),
      ...(await client.listed(`/v2/events?messageIds=${foreignIds}`, "events")),
      ...(await client.listed(`/v2/logs?messageIds=${foreignIds}`, "logs")),
    ];

    const seen = new Set(lists.map(({ messageId }) => textOf(messageId)));
    expect(seen.has(held) && seen.has(failed)).toBe(true);
    expect(foreign.filter((id) => seen.has(id))).toEqual([]);
    expect(asked).toEqual([]);
  });

  it("400 cannot go on from a page of another tenant", async () => {
    for (const { cursors } of others(own())) {
      const dlq = await own().client.get(`/v2/dlq?count=1&cursor=${cursors.dlq}`);
      const events = await own().client.get(`/v2/events?count=1&cursor=${cursors.events}`);

      expect([dlq.status, events.status]).toEqual([400, 400]);
    }
  });

  it("publishes to its own group of a name that all use", async () => {
    const [child] = (await own().client.publish("shared")).list();

    const arrival = await destination.arrival(`/group/${user}`);
    expect(arrival.headers["service-message-id"]).toBe(child?.["messageId"]);
    expect(destination.at(`/group/${user}`)).toHaveLength(1);
  });
});

describe("all four", () => {
  it("had a message of their own for the same deduplication id", () => {
    expect(new Set(estates.map(({ held }) => held)).size).toBe(4);
  });

  it("still have all their data after the attempts of the others", async () => {
    for (const { client, held, dlqId, user } of estates) {
      const message = await client.get(`/v2/messages/${held}`);
      const letter = await client.get(`/v2/dlq/${dlqId}`);

      expect(message.object()).toMatchObject({ body: user });
      expect(letter.status).toBe(200);
    }
  });

  it("are signed for with keys of their own", async () => {
    const keys = await Promise.all(
      estates.map(async ({ client }) => (await client.get("/v2/keys")).text),
    );

    expect(new Set(keys).size).toBe(4);
  });
});
