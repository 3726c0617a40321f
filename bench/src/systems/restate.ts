/** The peer of runs: Restate's server with its defaults, on a synced disk, with an endpoint of its own SDK. */
import { join } from "node:path";
import { freePort, npmPackages } from "@posthaste/local";
import { dataFolder } from "../folders.ts";
import { Child } from "./child.ts";
import { answersOk, type System } from "./system.ts";

const serverVersion = "1.7.12";
const sdkVersion = "1.17.2";
const startMsMax = 30_000;

export async function startRestate(): Promise<System> {
  const packages = await npmPackages(`restate-${serverVersion}-${sdkVersion}`, [
    `@restatedev/restate-server@${serverVersion}`,
    `@restatedev/restate-sdk@${sdkVersion}`,
  ]);
  const [port, admin, node, endpointPort] = [
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
  ];
  const data = dataFolder();
  const platform = `@restatedev/restate-server-${process.platform}-${process.arch}`;
  const server = new Child({
    name: "Restate",
    file: join(packages, "node_modules", platform, "bin/restate-server"),
    args: ["--no-logo", "--node-name", "bench", "--base-dir", data.path],
    env: {
      RESTATE_DISABLE_TELEMETRY: "true",
      RESTATE_LISTEN_MODE: "tcp",
      RESTATE_BIND_IP: "127.0.0.1",
      RESTATE_BIND_PORT: String(node),
      RESTATE_ADMIN__BIND_PORT: String(admin),
      RESTATE_INGRESS__BIND_PORT: String(port),
    },
  });
  const endpoint = new Child({
    name: "Restate's endpoint",
    file: process.execPath,
    args: [
      join(import.meta.dirname, "../peers/restate-endpoint.ts"),
      String(endpointPort),
      packages,
    ],
  });
  const stop = async () => {
    await endpoint.stop();
    await server.stop();
    data.remove();
  };
  try {
    await server.ready(() => answersOk(`http://127.0.0.1:${port}/restate/health`), startMsMax);
    await server.ready(() => registered(admin, endpointPort), startMsMax);
  } catch (error) {
    await stop();
    throw error;
  }
  return { name: "Restate", port, pids: [server.pid], stop, output: () => server.output };
}

async function registered(admin: number, endpointPort: number): Promise<boolean> {
  try {
    const { ok } = await fetch(`http://127.0.0.1:${admin}/deployments`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ uri: `http://127.0.0.1:${endpointPort}` }),
    });
    return ok;
  } catch {
    return false;
  }
}
