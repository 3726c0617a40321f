/** Sentinels, and a Redis Cluster, that require TLS and a certificate, of a private authority. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, jest } from "@jest/globals";
import { flowLaneId, type FlowLimits } from "@posthaste/domain";
import { startRedisCluster, startRedisWithSentinels } from "@posthaste/local";
import {
  aKey,
  anotherAuthority,
  aTenant,
  authority,
  certificateKey,
  clientCertificate,
  newId,
  serverCertificate,
} from "@posthaste/testing";
import { temporaryFolder } from "@posthaste/testing/temporary-folder";
import { type Opened, openTokens, until, untilUp } from "../opened.fixture.ts";
import { type RedisPlace } from "./dial.ts";

jest.setTimeout(300_000);

const lane = flowLaneId(aTenant, "lane");
const three: FlowLimits = { parallelism: 3, periodMs: 1_000 };
const ids = (count: number) => Array.from({ length: count }, () => newId());
const ours = { ca: authority, certificate: clientCertificate, key: certificateKey };

let dir: string;
let opened: Opened[];
let stop: () => Promise<void>;

beforeEach(() => {
  dir = temporaryFolder();
  [opened, stop] = [[], () => Promise.resolve()];
});

afterEach(async () => {
  await Promise.all(opened.map((tokens) => tokens.close()));
  await stop();
});

/** Returns settings of servers that present a certificate to clients and to each other, and require one. */
function asking(): Readonly<Record<string, string>> {
  const fileOf = (name: string, text: string): string => {
    const file = join(dir, name);
    writeFileSync(file, text);
    return file;
  };
  const key = fileOf("key.pem", certificateKey);
  return {
    "tls-cert-file": fileOf("server.pem", serverCertificate),
    "tls-key-file": key,
    "tls-client-cert-file": fileOf("client.pem", clientCertificate),
    "tls-client-key-file": key,
    "tls-ca-cert-file": fileOf("authority.pem", authority),
    "tls-auth-clients": "yes",
  };
}

type Servers = Pick<RedisPlace, "url" | "mode" | "sentinel"> & { kill: () => Promise<void> };

async function sentinels(): Promise<Servers> {
  const redis = await startRedisWithSentinels({ dir }, {}, undefined, asking());
  stop = () => redis.stop();
  const kill = async () => (await redis.master()).process.kill();
  return { url: redis.url, mode: "sentinel", sentinel: { master: redis.masterName }, kill };
}

async function cluster(): Promise<Servers> {
  const redis = await startRedisCluster({ dir, masters: 3, hasReplicas: true, tls: asking() });
  stop = () => redis.stop();
  const kill = async () => void (await redis.masters[0]?.process.kill());
  return { url: redis.url, mode: "cluster", kill };
}

function open({ url, ...of }: Omit<Servers, "kill">, tls: RedisPlace["tls"]): Opened {
  const tokens = openTokens(url, { ...of, ...(tls && { tls }), budgetMs: 1_000 });
  opened.push(tokens);
  return tokens;
}

describe.each([
  ["sentinels", sentinels],
  ["a Redis Cluster", cluster],
])("%s over TLS", (_, start) => {
  it("are reached with their authority and a certificate, and followed to the server that takes over", async () => {
    const { kill, ...servers } = await start();
    const tokens = open(servers, ours);
    await untilUp(tokens);
    const entries = Array.from({ length: 60 }, (_one, i) => ({ key: aKey(`${i}`), id: newId() }));
    await tokens.claim(entries);

    await kill();
    await until("its death is noticed", () => !tokens.isUp());
    await untilUp(tokens);

    await tokens.restore(lane, [], undefined);
    expect((await tokens.acquire(lane, ids(5), three)).granted).toHaveLength(3);
    const answers = await tokens.claim(entries.map(({ key }) => ({ key, id: newId() })));
    expect(answers).toHaveLength(entries.length);
  });

  it("are away for a process that trusts another authority or shows no certificate, and that is logged", async () => {
    const { kill: _kill, ...servers } = await start();
    const stranger = open(servers, { ...ours, ca: anotherAuthority });
    const nobody = open(servers, { ca: authority });

    await until("it is said", () => [stranger, nobody].every((each) => each.problem()));
    await expect(stranger.peek(lane)).rejects.toMatchObject({ code: "unavailable" });
    await expect(nobody.peek(lane)).rejects.toMatchObject({ code: "unavailable" });
    expect([stranger.counts().connections, nobody.counts().connections]).toEqual([0, 0]);
  });
});
