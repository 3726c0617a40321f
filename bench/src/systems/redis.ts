/** Finds Redis for the peer, on the host or in Debian's package. */
import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { connect } from "node:net";
import { delimiter, join } from "node:path";
import { freePort } from "@posthaste/local";
import { Child } from "./child.ts";

export type Redis = { readonly port: number; readonly pid: number; stop(): Promise<void> };

const startMsMax = 10_000;
const installMsMax = 120_000;
const debianInstaller = "apt-get";

export async function startRedis(dataPath: string): Promise<Redis> {
  const file = redisBinary() ?? installRedis();
  const port = await freePort();
  const settings = {
    port: String(port),
    bind: "127.0.0.1",
    dir: dataPath,
    appendonly: "yes",
    appendfsync: "everysec",
    save: "",
  };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
  const child = new Child({ name: "redis-server", file, args, argv0: "redis-server" });
  await child.ready(() => accepts(port), startMsMax);
  return { port, pid: child.pid, stop: () => child.stop() };
}

export function redisVersion(): string {
  const file = redisBinary();
  if (file === undefined) return "none";
  const { stdout } = spawnSync(file, ["--version"], { encoding: "utf8", argv0: "redis-server" });
  return /v=(\S+)/.exec(stdout)?.[1] ?? "unknown";
}

/** Debian's `redis-check-rdb` is the same file as its `redis-server`, and acts by argv[0]. */
const redisBinary = () => onPath("redis-server") ?? onPath("redis-check-rdb");

/** Installs `redis-tools`, which has only the binary. The package `redis-server` would also start a service on this host. */
function installRedis(): string {
  const missing = "redis-server is not installed";
  if (process.getuid?.() !== 0) throw new Error(`${missing}, and only root may install it`);
  console.error("bench: installing Debian's redis-tools for the BullMQ peer");
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const install = ["install", "-y", "--no-install-recommends", "redis-tools"];
  for (const args of [install, ["update"], install]) {
    const { status } = spawnSync(debianInstaller, args, {
      env,
      timeout: installMsMax,
      stdio: "ignore",
    });
    const file = redisBinary();
    if (status === 0 && file !== undefined) return file;
  }
  throw new Error(`${missing}, and apt-get could not install it`);
}

function onPath(name: string): string | undefined {
  return (process.env["PATH"] ?? "")
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1" });
    const settle = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once("connect", () => settle(true));
    socket.once("error", () => settle(false));
  });
}
