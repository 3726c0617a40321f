/** Tests management under thousands of requests that must be refused, the same in each run. */
import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it, jest } from "@jest/globals";
import * as fc from "fast-check";
import { type HostileRequest, hostileRequests } from "./hostile-requests.ts";
import { textOf } from "./json.ts";
import { Operator, operatorEnv } from "./operator.ts";
import { errorOf, exchange } from "./raw-socket.ts";
import { startServer, type TestServer } from "./server.ts";

const requests = 600;
const atOnce = 8;
const brokenOff = 100;
jest.setTimeout(120_000);

/** Other suites may have tenants of their own at the same server. */
const tenant = "settled";

let server: TestServer;
let operator: Operator;
let index: string;
let hostile: readonly HostileRequest[];

beforeAll(async () => {
  server = await startServer({ env: operatorEnv });
  operator = new Operator(server);
  await operator.post("/v2/tenants", { id: tenant });
  await operator.token(tenant);
  const entered = await operator.post("/v2/search", {
    ...{ customer_id: tenant, name: "books", endpoint: "https://a.example" },
    ...{ type: "free", region: "eu-west-1" },
  });
  index = textOf(entered.object()["id"]);
  hostile = fc.sample(hostileRequests({ tenant, index }), { seed: 1, numRuns: requests });
});
afterAll(async () => {
  await server.stop();
});

/** Reads everything that the requests name. A request that created anything else would have been answered differently. */
async function books(): Promise<readonly string[]> {
  const paths = ["", "/tokens", "/keys"].map((more) => `/v2/tenants/${tenant}${more}`);
  const replies = await Promise.all(
    [...paths, "/v2/tenants/new", `/v2/search/${index}`].map((path) => operator.get(path)),
  );
  return replies.map(({ status, text }) => `${status} ${text}`);
}

describe("a malformed request to management", () => {
  it("is refused as the caller's fault, with the name of the field, and changes nothing", async () => {
    const before = await books();

    const wrong = await faultsOf(hostile);

    expect(wrong).toEqual([]);
    expect(await books()).toEqual(before);
  });

  it("may break off anywhere", async () => {
    const before = await books();

    for (const { bytes } of hostile.slice(0, brokenOff))
      await breakOff(bytes.subarray(0, Math.max(1, bytes.length >> 1)));

    expect(await books()).toEqual(before);
  });
});

async function faultsOf(all: readonly HostileRequest[]): Promise<readonly string[]> {
  const faults: string[] = [];
  const left = all.values();
  const work = async (): Promise<void> => {
    for (const request of left) {
      const fault = await faultOf(request);
      if (fault !== undefined) faults.push(fault);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return faults;
}

async function faultOf({ bytes, names = "" }: HostileRequest): Promise<string | undefined> {
  const answers = await exchange(server.managementPort, bytes);
  const [first] = answers;
  const shown = `${bytes.toString("latin1").slice(0, 600)} <- ${JSON.stringify(answers).slice(0, 600)}`;
  if (first === undefined || answers.some(({ status }) => status < 400 || status >= 500))
    return shown;
  return first.status === 413 || errorOf(first).startsWith(names) ? undefined : shown;
}

async function breakOff(bytes: Uint8Array): Promise<void> {
  const socket = connect(server.managementPort, "127.0.0.1");
  socket.on("error", () => undefined).resume();
  socket.end(bytes);
  await once(socket, "close");
}
