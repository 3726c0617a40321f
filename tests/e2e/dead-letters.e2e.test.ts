/** Tests `/v2/dlq`: dead letters (docs/design/wire#dead-letters). */
import { beforeAll, describe, expect, it } from "@jest/globals";
import { eventually, equals } from "./client.ts";
import { always } from "./destination.ts";
import { service } from "./dialects.ts";
import { type Json, numberOf, textOf } from "./json.ts";
import { client, destination, startBeforeTests } from "./suite.ts";

const letterCount = 250;

startBeforeTests();

beforeAll(async () => {
  destination.answers("/fails", always(418, "a teapot"));
  await fail(letterCount, "first");
  destination.answers("/binary", (_, response) => response.writeHead(500).end(Buffer.from([0xff])));
});

const publish = (label: string, by = client, path = "/fails", body = "the body"): Promise<string> =>
  by.published(destination.url(path), service({ Retries: "0", Label: label }), body);

async function fail(count: number, label: string, by = client): Promise<readonly string[]> {
  const ids = await Promise.all(Array.from({ length: count }, () => publish(label, by)));
  await eventually(
    async () => (await allPages(`label=${label}`, by)).flat().length,
    equals(count),
    20_000,
  );
  return ids;
}

const page = async (query: string, by = client) => {
  const reply = await by.get(`/v2/dlq?${query}`);
  if (reply.status !== 200) throw new Error(`${query}: ${reply.status} ${reply.text}`);
  return { letters: reply.list("messages"), cursor: reply.object()["cursor"] };
};

async function allPages(query: string, by = client, meanwhile?: () => Promise<unknown>) {
  const pages: (readonly Json[])[] = [];
  let cursor: unknown;
  do {
    const next = cursor === undefined ? "" : `&cursor=${encodeURIComponent(textOf(cursor))}`;
    const { letters, cursor: following } = await page(query + next, by);
    pages.push(letters);
    cursor = following;
    await meanwhile?.();
  } while (cursor !== undefined);
  return pages;
}

const idsOf = (pages: readonly (readonly Json[])[]): readonly string[] =>
  pages.flat().map(({ messageId }) => textOf(messageId));

describe("GET /v2/dlq", () => {
  describe("200", () => {
    it("lists the oldest first, at most a hundred a page, to the end without gap or repeat", async () => {
      const pages = await allPages("label=first");

      const letters = pages.flat();
      const times = letters.map(({ dlqId }) => Number(textOf(dlqId).split("-")[0]));
      expect(pages.map(({ length }) => length)).toEqual([100, 100, 50]);
      expect(new Set(idsOf(pages)).size).toBe(letterCount);
      expect(times).toEqual(times.toSorted((a, b) => a - b));
    });

    it("lists the newest first with the option for it", async () => {
      const earliest = idsOf(await allPages("label=first&order=earliestFirst"));

      const latest = idsOf(await allPages("label=first&order=latestFirst&count=37"));

      expect(latest).toEqual(earliest.toReversed());
    });

    it.each(["earliestFirst", "latestFirst"])(
      "lists every letter that was there at its first page, %s, while new letters arrive and old ones go",
      async (order) => {
        const label = `moving-${order}`;
        const there = new Set(await fail(60, label));
        const seen: string[] = [];
        let round = 0;

        const pages = await allPages(`label=${label}&count=7&order=${order}`, client, async () => {
          if (round++ > 5) return;
          await publish(label);
          const [first] = (await page(`label=${label}&count=1&order=${order}`)).letters;
          seen.push(textOf(first?.["messageId"]));
          await client.delete(`/v2/dlq/${textOf(first?.["dlqId"])}`);
        });

        const listed = idsOf(pages);
        expect(new Set(listed).size).toBe(listed.length);
        const missing = [...there].filter((id) => !listed.includes(id) && !seen.includes(id));
        expect(missing).toEqual([]);
      },
    );

    it("shows the message and the answer, and leaves out missing fields", async () => {
      const [id] = await fail(1, "shown");

      const { letters } = await page("label=shown");

      const at = numberOf(letters[0]?.["createdAt"]);
      expect(letters).toEqual([
        {
          dlqId: expect.stringMatching(/^\d{13}-\w+$/),
          messageId: id,
          url: destination.url("/fails"),
          method: "POST",
          header: {},
          body: "the body",
          maxRetries: 0,
          notBefore: at,
          createdAt: at,
          callerIP: "127.0.0.1",
          label: "shown",
          labels: ["shown"],
          timeout: 7_200_000,
          responseStatus: 418,
          responseHeader: expect.objectContaining({ Date: [expect.any(String)] }),
          responseBody: "a teapot",
        },
      ]);
    });

    it("shows an answer that is not UTF-8 as base64", async () => {
      await publish("binary", client, "/binary", "x");

      const { letters } = await eventually(
        () => page("label=binary"),
        (p) => p.letters.length > 0,
      );

      expect(letters).toMatchObject([{ responseBodyBase64: "/w==" }]);
    });

    it("cuts bodies at trimBody, and leaves them out at 0", async () => {
      await fail(1, "trimmed");

      const cut = (await page("label=trimmed&trimBody=3")).letters;
      const without = (await page("label=trimmed&trimBody=0")).letters;

      expect(cut).toMatchObject([{ body: "the", responseBody: "a t" }]);
      expect(without[0]).not.toHaveProperty("body");
      expect(without[0]).not.toHaveProperty("responseBody");
    });
  });
});

describe("/v2/dlq/{dlqId}", () => {
  it("GET 200 answers the letter as the list has it", async () => {
    const [letter] = (await page("label=first&count=1")).letters;

    const reply = await client.get(`/v2/dlq/${textOf(letter?.["dlqId"])}`);

    expect(reply.status).toBe(200);
    expect(reply.object()).toEqual(letter);
  });

  it("DELETE 200 removes the letter, and 404 follows for the removed one", async () => {
    await fail(1, "deleted");
    const [letter] = (await page("label=deleted")).letters;
    const path = `/v2/dlq/${textOf(letter?.["dlqId"])}`;

    const first = await client.delete(path);
    const second = await client.delete(path);

    expect([first.status, second.status]).toEqual([200, 404]);
    expect((await client.get(path)).status).toBe(404);
    expect((await page("label=deleted")).letters).toEqual([]);
  });
});
