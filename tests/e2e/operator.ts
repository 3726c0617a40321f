/** The operator of a test server: the management API with its credentials. */
import { randomBytes, randomInt } from "node:crypto";
import { type TokenScope } from "@posthaste/domain";
import { Client, type Reply } from "./client.ts";
import { textOf } from "./json.ts";
import { type TestServer } from "./test-server.ts";

export const operatorUser = "operator";
/** A password may hold colons. */
export const operatorPassword = "the:password-of-the-operator";

/** Credentials of an operator and of a viewer. */
export const otherPasswords = {
  "on-call": "the:password-of-on-call",
  auditor: "the-password-of-the-auditor",
} as const;

/** The test acts as a trusted proxy, so it names each caller's network. */
export const operatorEnv = {
  POSTHASTE_TRUSTED_PROXIES: "127.0.0.1",
  POSTHASTE_MANAGEMENT_USER: operatorUser,
  POSTHASTE_MANAGEMENT_PASSWORD: operatorPassword,
  POSTHASTE_MANAGEMENT_OPERATORS: `on-call:${otherPasswords["on-call"]}`,
  POSTHASTE_MANAGEMENT_VIEWERS: `auditor:${otherPasswords.auditor} guest:another-password`,
};

export const basic = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;

type Headers = Readonly<Record<string, string>>;

export class Operator {
  readonly #server: TestServer;
  readonly #client: Client;

  constructor(server: TestServer) {
    this.#server = server;
    this.#client = new Client(server.managementPort, null);
  }

  /** `body` is sent as JSON, or unchanged if it is a string. `headers` may override Authorization. */
  call(method: string, path: string, body?: unknown, headers: Headers = {}): Promise<Reply> {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const authorization = basic(operatorUser, operatorPassword);
    return this.#client.call(method, path, { authorization, ...headers }, text);
  }

  get(path: string): Promise<Reply> {
    return this.call("GET", path);
  }

  post(path: string, body?: unknown): Promise<Reply> {
    return this.call("POST", path, body);
  }

  patch(path: string, body: unknown): Promise<Reply> {
    return this.call("PATCH", path, body);
  }

  delete(path: string): Promise<Reply> {
    return this.call("DELETE", path);
  }

  async tenant(id: string, settings: object = {}): Promise<Client> {
    const made = await this.post("/v2/tenants", { id, ...settings });
    if (made.status !== 201) throw new Error(made.text);
    return this.caller(id);
  }

  /** Returns a client with a new token. Resolves when the gateway knows the token. */
  async caller(id: string, scope: TokenScope = "full"): Promise<Client> {
    const client = new Client(this.#server.port, await this.token(id, scope));
    await untilStatus(client, 200);
    return client;
  }

  async token(id: string, scope: TokenScope = "full", more: object = {}): Promise<string> {
    const made = await this.post(`/v2/tenants/${id}/tokens`, { scope, ...more });
    return textOf(made.object()["token"]);
  }
}

/** Returns the id of a tenant that no other suite of the same processes makes. */
export const newTenant = (): string => `tenant-${randomBytes(6).toString("hex")}`;

const networksMax = 2 ** 16;
/** Suites that share processes begin at different places. */
let networks = randomInt(networksMax);
/** Returns the address of a network without failed attempts. */
export const freshNetwork = (): { readonly "x-forwarded-for": string } => ({
  "x-forwarded-for": `10.${(networks >> 8) & 255}.${networks++ & 255}.1`,
});

const waitMsMax = 60_000;
const askEveryMs = 250;

/** Resolves when the gateway answers this caller with `status`; five seconds are promised. */
export async function untilStatus(client: Client, status: number): Promise<void> {
  const until = Date.now() + waitMsMax;
  for (;;) {
    const reply = await client.get("/v2/me", freshNetwork());
    if (reply.status === status) return;
    if (Date.now() > until) throw new Error(`still ${reply.status}, not ${status}`);
    await new Promise((resolve) => setTimeout(resolve, askEveryMs));
  }
}
