/** The yardstick of the six services: the least cost of a durable, signed delivery over the same stores. */
import { join } from "node:path";
import { freePort } from "@posthaste/local";
import { type ApartStores } from "./apart.ts";
import { Child, keepCode } from "./child.ts";
import { answersOk, type System } from "./system.ts";

const startMsMax = 20_000;
const peer = join(import.meta.dirname, "../peers/least-apart.ts");

export async function startLeastApart({ stores }: ApartStores): Promise<System> {
  const room = `least-${process.pid}`;
  const brokers = stores.kafka?.brokers.join(",") ?? "";
  const uri = stores.mongodb?.uri ?? "";
  const redis = stores.redis?.url ?? "";
  const children: Child[] = [];
  const start = async (role: "gateway" | "deliverer") => {
    const port = await freePort();
    const args = ["--disable-warning=ExperimentalWarning", keepCode, peer, role, String(port)];
    const child = new Child({
      name: `the least apart, ${role}`,
      file: process.execPath,
      args: [...args, brokers, uri, redis, room],
    });
    children.push(child);
    await child.ready(() => answersOk(`http://127.0.0.1:${port}/readyz`), startMsMax);
    return port;
  };
  const stop = async () => {
    await Promise.all(children.map((child) => child.stop()));
  };
  try {
    const port = await start("gateway");
    await start("deliverer");
    const pids = children.map(({ pid }) => pid);
    const output = () => children.map((child) => child.output).join("\n");
    return { name: "the least apart", port, pids, stop, output };
  } catch (error) {
    await stop();
    throw error;
  }
}
