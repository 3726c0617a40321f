/** How the bus authenticates to brokers that ask for a certificate or a token. This file starts the broker. */
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from "@jest/globals";
import { type Guard, type RunningKafka, startKafka } from "@posthaste/local";
import {
  anotherAuthority,
  answer,
  authority,
  certificateKey,
  clientCertificate,
  type Destination,
  openDestination,
  type Respond,
  serverCertificate,
} from "@posthaste/testing";
import { temporaryFolder } from "@posthaste/testing/temporary-folder";
import { writeFileSync } from "node:fs";
import { type Socket } from "node:net";
import { join } from "node:path";
import { aSettled, eventually, publishFacts } from "../events.fixture.ts";
import { type KafkaBus, type KafkaBusOptions } from "../index.ts";
import { type OpenBuses, openBuses } from "../opened.fixture.ts";

const dir = temporaryFolder();
const startMsMax = 300_000;
jest.setTimeout(120_000);
const ca = authority;
let kafka: RunningKafka;
let buses: OpenBuses;
let issuer: Destination | undefined;

beforeAll(async () => {
  kafka = await startKafka({ dir }, guards());
}, startMsMax);
afterEach(async () => {
  await buses.close();
  await issuer?.close();
  issuer = undefined;
});
afterAll(async () => {
  await kafka.process.stop();
});

describe("brokers that require a certificate", () => {
  it("are served by a bus that shows one, and trusts theirs by the authority that is given", async () => {
    const bus = await opened("MUTUAL", {
      tls: { ca, certificate: clientCertificate, key: certificateKey },
    });

    expect(await passes(bus)).toBe(true);
  });

  it("are away for a bus that shows none, or that trusts another authority, and the failure has the code of TLS", async () => {
    const explain = (error: unknown): string => codesOf(error).join();
    const client = { certificate: clientCertificate, key: certificateKey };
    const without = await opened("MUTUAL", { tls: { ca }, explain });
    await eventually(() => /ALERT_.*CERTIFICATE/.test(String(without.problem())));
    await buses.close();

    const bus = await opened("MUTUAL", { tls: { ca: anotherAuthority, ...client }, explain });

    await eventually(() => bus.problem()?.includes("UNABLE_TO_VERIFY_LEAF_SIGNATURE") === true);
    expect(bus.isUp()).toBe(false);
  });
});

describe("brokers that require a token", () => {
  it("get another one before the first ends, and the bus stays up", async () => {
    const tokens = await openIssuer((socket) => aToken(socket, lifeSeconds));
    const bus = await opened("TOKEN", tokens);
    const heard = new Set<string>();
    await bus.subscribe("message.settled", "group", async (events) => {
      for (const { id } of events) heard.add(id);
    });

    const said: string[] = [];
    await eventually(async () => {
      const fact = aSettled();
      await publishFacts(bus, [fact]);
      said.push(fact.id);
      return Number(issuer?.requests.length) > tokensWanted;
    });

    await eventually(() => said.every((id) => heard.has(id)));
    expect(buses.log.events().filter((event) => event === "bus.down")).toEqual([]);
    expect(bus.counts()).toMatchObject({ consumerRestarts: 0, connections: 1 });
  });

  it("are away while the issuer is away, for the reason that the bus reports, and are back when it answers again", async () => {
    let away = true;
    const tokens = await openIssuer((socket) =>
      away
        ? answer(socket, "503 Away", '{"error":"temporarily_unavailable"}')
        : aToken(socket, lifeSeconds),
    );
    const bus = await opened("TOKEN", tokens);
    await eventually(() => bus.problem()?.includes("503, temporarily_unavailable") === true);
    const asked = Number(issuer?.requests.length);
    away = false;

    expect(await passes(bus)).toBe(true);
    expect(asked).toBeLessThan(askedAtMost);
  });

  it("refuse an expired one, and the bus reports that without the token or the secret", async () => {
    const tokens = await openIssuer((socket) => aToken(socket, -lifeSeconds));
    const bus = await opened("TOKEN", tokens);

    await eventually(() => bus.problem()?.includes("the brokers refuse the token") === true);

    expect(bus.isUp()).toBe(false);
    expect(JSON.stringify(buses.log.lines)).not.toContain(tokens.sasl.clientSecret);
    expect(JSON.stringify(buses.log.lines)).not.toContain(tokenOf(-lifeSeconds).slice(0, 20));
  });
});

const lifeSeconds = 8;
const tokensWanted = 3;
/** A process that asked at each attempt to connect would ask far more often. */
const askedAtMost = 5;

async function opened(listener: string, given: Partial<KafkaBusOptions>): Promise<KafkaBus> {
  const brokers = kafka.guarded.get(listener);
  buses = openBuses(brokers);
  return buses.open({ partitions: 1, ...given });
}

async function passes(bus: KafkaBus): Promise<boolean> {
  const heard = new Set<string>();
  const fact = aSettled();
  await bus.subscribe("message.settled", "group", async (events) => {
    for (const { id } of events) heard.add(id);
  });
  await publishFacts(bus, [fact]);
  await eventually(() => heard.has(fact.id));
  return bus.isUp();
}

const codesOf = (error: unknown): readonly unknown[] =>
  Error.isError(error) ? ["code" in error ? error.code : "", ...codesOf(error.cause)] : [];

async function openIssuer(respond: Respond) {
  issuer = await openDestination(respond);
  const client = { clientId: "posthaste", clientSecret: "the/secret" };
  return {
    tls: { ca },
    sasl: { mechanism: "oauthbearer", tokenUrl: `${issuer.url}/token`, ...client },
  } as const;
}

function aToken(socket: Socket, seconds: number): void {
  const token = { access_token: tokenOf(seconds), expires_in: Math.abs(seconds) };
  answer(socket, "200 OK", JSON.stringify(token));
}

/** Returns a token without a signature: this broker checks only its times. */
function tokenOf(seconds: number): string {
  const now = Math.floor(Date.now() / 1_000);
  const claims = { sub: "posthaste", iat: now - 60, exp: now + seconds };
  const parts = [{ alg: "none" }, claims].map((part) => JSON.stringify(part));
  return `${parts.map((part) => Buffer.from(part).toString("base64url")).join(".")}.`;
}

function guards(): readonly Guard[] {
  const pem = (name: string, text: string): string => {
    const file = join(dir, `${name}.pem`);
    writeFileSync(file, text);
    return file;
  };
  const shown = {
    "ssl.keystore.type": "PEM",
    "ssl.keystore.location": pem("server", certificateKey + serverCertificate),
  };
  const security = "org.apache.kafka.common.security.oauthbearer";
  return [
    {
      name: "MUTUAL",
      protocol: "SSL",
      settings: {
        ...shown,
        "ssl.client.auth": "required",
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": pem("authority", authority),
      },
    },
    {
      name: "TOKEN",
      protocol: "SASL_SSL",
      settings: {
        ...shown,
        "sasl.enabled.mechanisms": "OAUTHBEARER",
        "oauthbearer.sasl.jaas.config": `${security}.OAuthBearerLoginModule required;`,
        "oauthbearer.sasl.server.callback.handler.class": `${security}.internals.unsecured.OAuthBearerUnsecuredValidatorCallbackHandler`,
        "oauthbearer.connections.max.reauth.ms": "3600000",
      },
    },
  ];
}
