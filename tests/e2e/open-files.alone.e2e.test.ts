/** Tests a process with a low limit of open files and sockets. */
import { once } from "node:events";
import { Agent, request } from "node:http";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, jest } from "@jest/globals";
import { freePort } from "@posthaste/local";
import { temporaryFolder } from "@posthaste/testing/temporary-folder";
import { Destination } from "./destination.ts";
import { developmentToken, ServerProcess } from "./server-process.ts";

const openFilesMax = 256;
jest.setTimeout(180_000);

const folder = temporaryFolder();
let port: number;
let server: ServerProcess;
let destination: Destination;
/** Connections from before the crowd. */
const agent = new Agent({ keepAlive: true, maxSockets: 8 });

beforeAll(async () => {
  port = await freePort();
  server = new ServerProcess(
    {
      POSTHASTE_PORT: String(port),
      POSTHASTE_DATA_DIR: join(folder, "data"),
      POSTHASTE_CATCHER: "on",
    },
    { openFilesMax },
  );
  destination = await Destination.start();
  await server.start();
});
afterAll(async () => {
  agent.destroy();
  await server.stop();
  await destination.stop();
});

const publish = (path: string, body: Uint8Array): Promise<number> =>
  publishTo(destination.url(path), body);

const publishTo = (url: string, body: Uint8Array): Promise<number> =>
  new Promise((resolve, reject) => {
    const sent = request(
      {
        agent,
        port,
        host: "127.0.0.1",
        method: "POST",
        path: `/v2/publish/${url}`,
        headers: { authorization: `Bearer ${developmentToken}`, "content-length": body.length },
      },
      (response) => {
        response.resume().on("end", () => resolve(response.statusCode ?? 0));
      },
    );
    sent.on("error", reject).end(body);
  });

async function crowd(count: number, at: number): Promise<readonly Socket[]> {
  const sockets = Array.from({ length: count }, () => connect({ host: "127.0.0.1", port: at }));
  await Promise.all(
    sockets.map(async (socket) => {
      socket.on("error", () => undefined);
      await once(socket, "connect");
    }),
  );
  return sockets;
}

describe("a process that may have 256 files open", () => {
  it("logs the low limit in one line", () => {
    const said = server.output.split("\n").filter((line) => line.includes("few_open_files"));

    expect(said).toHaveLength(1);
    expect(said[0]).toContain(String(openFilesMax));
  });

  it("continues under a flood of connections and through checkpoints, and delivers what it accepted", async () => {
    const messages = 400;
    const body = Buffer.alloc(100 * 1024, 1);
    await Promise.all(Array.from({ length: 8 }, () => publish("/before", body)));
    const sockets = [...(await crowd(600, port)), ...(await crowd(300, port + 1))];

    const statuses = await Promise.all(
      Array.from({ length: messages }, () => publish("/flooded", body)),
    );
    for (const socket of sockets) socket.destroy();

    expect(new Set(statuses)).toEqual(new Set([200]));
    await destination.arrivals("/flooded", messages, 120_000);
  });

  it("closes idle connections when calls need their files, however many destinations there are", async () => {
    const hosts = Array.from({ length: 500 }, (_, n) => `host-${n}.localhost:${destination.port}`);

    const statuses = await Promise.all(
      hosts.map((host) => publishTo(`http://${host}/many`, Buffer.from("x"))),
    );
    await destination.arrivals("/many", hosts.length, 120_000);

    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(destination.at("/many")).toHaveLength(hosts.length);
    expect(server.output).not.toContain("attempt.deferred");
  });
});
