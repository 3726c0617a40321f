import { createSocket } from "node:dgram";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { type Clock } from "@posthaste/ports";
import { temporaryFolder } from "@posthaste/testing/temporary-folder";
import { hostsFile } from "./hosts-file.ts";
import { createNameServer } from "./name-server.ts";
import { Names } from "./names.ts";
import { dnsError, fakeNameServer } from "./test-kit.ts";

class ManualClock implements Clock {
  at = 0;
  now(): number {
    throw new Error("names go by what has passed");
  }
  passedMs(): number {
    return this.at;
  }
  setAheadMs(): number {
    return 0;
  }
  after(): () => void {
    throw new Error("names arm no timers");
  }
}

function namesOf(answers: Parameters<typeof fakeNameServer>[0]) {
  const clock = new ManualClock();
  const server = fakeNameServer(answers);
  return { clock, server, names: new Names({ clock, server, hosts: async () => [] }) };
}

describe("names", () => {
  it("are resolved once for many calls at a time, and again after their TTL, at least a second", async () => {
    const { names, clock, server } = namesOf({ "a.test": ["192.0.2.1", "2001:db8::1"] });

    const many = await Promise.all([1, 2, 3].map(() => names.resolve("a.test")));
    clock.at = 999;
    await names.resolve("a.test");
    expect(server.asked).toBe(1);
    expect(many[2]).toMatchObject({ addresses: ["192.0.2.1", "2001:db8::1"] });

    clock.at = 1_000;
    await names.resolve("a.test");
    expect(server.asked).toBe(2);
  });

  it("are resolved again after a minute, however long their TTL", async () => {
    const { names, clock, server } = namesOf({ "a.test": ["192.0.2.1"] });
    const resolve4 = server.resolve4.bind(server);
    server.resolve4 = async (name) =>
      (await resolve4(name)).map((record) => ({ ...record, ttl: 86_400 }));

    await names.resolve("a.test");
    clock.at = 59_999;
    await names.resolve("a.test");
    expect(server.asked).toBe(1);
    clock.at = 60_000;
    await names.resolve("a.test");

    expect(server.asked).toBe(2);
  });

  it("that do not exist are not remembered as such", async () => {
    const { names, server } = namesOf({});

    expect(await names.resolve("a.test")).toMatchObject({ failed: "dns_failed" });
    expect(await names.resolve("a.test")).toMatchObject({ failed: "dns_failed" });
    expect(server.asked).toBe(2);
  });

  it("with one family that fails have the addresses of the other", async () => {
    const { names, server } = namesOf({ "a.test": ["192.0.2.1"] });
    server.resolve6 = () => Promise.reject(dnsError("ETIMEOUT"));

    expect(await names.resolve("a.test")).toMatchObject({ addresses: ["192.0.2.1"] });
  });

  it.each(["ESERVFAIL", "ETIMEOUT", "EREFUSED"])(
    "that end in %s are our failure while the resolver answers nothing, else the destination's",
    async (code) => {
      const answers = {
        "broken.test": dnsError(code),
        "a.test": ["192.0.2.1"],
        probe: dnsError(code),
      };
      const { names, clock } = namesOf(answers);

      expect(await names.resolve("broken.test")).toMatchObject({ failed: "resolver_down" });
      await names.resolve("a.test");
      expect(await names.resolve("broken.test")).toMatchObject({ failed: "dns_failed" });
      clock.at = 30_000;
      expect(await names.resolve("broken.test")).toMatchObject({ failed: "resolver_down" });
    },
  );

  it("that no resolver answers are our failure, also when it has just answered for another", async () => {
    // The code of c-ares when no file is left for its socket.
    const answers = { "b.test": dnsError("ECONNREFUSED"), "a.test": ["192.0.2.1"] };
    const { names } = namesOf({ ...answers, probe: dnsError("ECONNREFUSED") });
    const { names: whole } = namesOf({ ...answers, probe: ["192.0.2.1"] });

    for (const each of [names, whole]) await each.resolve("a.test");

    expect(await names.resolve("b.test")).toMatchObject({ failed: "resolver_down" });
    expect(await whole.resolve("b.test")).toMatchObject({ failed: "dns_failed" });
  });

  it("that alone fail are the destination's failure when the resolver answers a probe", async () => {
    const { names } = namesOf({ "broken.test": dnsError("ESERVFAIL"), probe: ["192.0.2.1"] });

    expect(await names.resolve("broken.test")).toMatchObject({ failed: "dns_failed" });
  });
});

describe("the hosts file", () => {
  it("gives the addresses of a name, without comments, and is read again when it is older than ten seconds", async () => {
    const directory = temporaryFolder();
    const path = join(directory, "hosts");
    await writeFile(path, "# comment\n127.0.0.1\tBox box.local # tail\n::1 box\n\n");
    const clock = new ManualClock();
    const hosts = hostsFile(path, clock);

    expect(await hosts("box")).toEqual(["127.0.0.1", "::1"]);
    expect(await hosts("tail")).toEqual([]);
    await writeFile(path, "10.0.0.1 box");
    clock.at = 9_999;
    expect(await hosts("box")).toEqual(["127.0.0.1", "::1"]);
    clock.at = 10_000;
    expect(await hosts("box")).toEqual(["10.0.0.1"]);
  });

  it("that is missing holds no names", async () => {
    expect(await hostsFile("/nonexistent/hosts", new ManualClock())("box")).toEqual([]);
  });
});

describe("the name server", () => {
  const noError = 0;
  const serverFailure = 2;
  const noSuchName = 3;

  /**
   * Opens a server that answers A questions for `a.test`, fails for `broken.test`, is silent for `silent.test`, and
   * knows no other name.
   */
  async function openDns() {
    const socket = createSocket("udp4");
    const asked: string[] = [];
    socket.on("message", (question, from) => {
      const name = nameIn(question);
      asked.push(name);
      if (name === "silent.test") return;
      const isIpv4 = question.readUInt16BE(question.indexOf(0, 12) + 1) === 1;
      const code =
        name === "broken.test" ? serverFailure : name === "a.test" ? noError : noSuchName;
      const answer =
        code === noError && isIpv4
          ? Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 7, 0, 4, 127, 0, 0, 1])
          : Buffer.alloc(0);
      const head = Buffer.from([
        0,
        0,
        0x81,
        0x80 | code,
        0,
        1,
        0,
        answer.length > 0 ? 1 : 0,
        0,
        0,
        0,
        0,
      ]);
      question.copy(head, 0, 0, 2);
      socket.send(
        Buffer.concat([head, question.subarray(12, question.indexOf(0, 12) + 5), answer]),
        from.port,
      );
    });
    await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
    return { server: `127.0.0.1:${socket.address().port}`, asked, close: () => socket.close() };
  }

  function nameIn(question: Buffer): string {
    const labels: string[] = [];
    for (let at = 12; (question[at] ?? 0) > 0; at += (question[at] ?? 0) + 1)
      labels.push(question.toString("latin1", at + 1, at + 1 + (question[at] ?? 0)));
    return labels.join(".");
  }

  it("distinguishes for a resolver: addresses with TTL, no such name, failure, and silence after two questions", async () => {
    const dns = await openDns();
    const server = createNameServer([dns.server]);
    try {
      expect(await server.resolve4("a.test")).toEqual([{ address: "127.0.0.1", ttl: 7 }]);
      await expect(server.resolve6("a.test")).rejects.toMatchObject({ code: "ENODATA" });
      await expect(server.resolve4("none.test")).rejects.toMatchObject({ code: "ENOTFOUND" });
      await expect(server.resolve4("broken.test")).rejects.toMatchObject({ code: "ESERVFAIL" });
      await expect(server.resolve4(`${"a".repeat(64)}.test`)).rejects.toMatchObject({
        code: "EBADNAME",
      });
      await expect(server.resolve4("silent.test")).rejects.toMatchObject({ code: "ETIMEOUT" });
      expect(dns.asked.filter((name) => name === "silent.test")).toHaveLength(2);
    } finally {
      dns.close();
    }
  });
});
