import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fetchPrometheus } from "../fetch/prometheus.ts";
import { freePort, loopback } from "../process/ports.ts";
import { answers } from "../process/probe.ts";
import { ServerProcess } from "../process/server-process.ts";
import { dataFolder, type ServerPlace } from "./place.ts";

export type RunningPrometheus = {
  /** Returns the current value of `expression`. Rejects with Prometheus' objection. */
  ask(expression: string): Promise<readonly Sample[]>;
  get(path: string): Promise<unknown>;
  stop(): Promise<void>;
};
type Sample = {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [at: number, value: string];
};

/** `configuration` is the text of `prometheus.yml`. Files that it names are in the same folder. */
export async function startPrometheus(
  place: ServerPlace & { readonly configuration: string },
): Promise<RunningPrometheus> {
  const file = await fetchPrometheus("prometheus");
  const port = place.port ?? (await freePort());
  const folder = dataFolder(place, "prometheus");
  const configurationFile = join(place.dir, "prometheus.yml");
  writeFileSync(configurationFile, place.configuration);
  const args = [
    `--config.file=${configurationFile}`,
    `--storage.tsdb.path=${folder}`,
    `--web.listen-address=${loopback}:${port}`,
    "--enable-feature=exemplar-storage",
    "--log.level=warn",
  ];
  const isReady = () =>
    answers(port, readyRequest, (answer) => answer.toString().startsWith("HTTP/1.1 200"));
  const server = new ServerProcess({ name: "Prometheus", file, args }, isReady, place);
  await server.start();

  const get = async (path: string): Promise<unknown> => {
    const response = await fetch(`http://${loopback}:${port}/api/v1/${path}`);
    const { data, error } = (await response.json()) as { data: unknown; error?: string };
    if (!response.ok) throw new Error(`${path}: ${error}`);
    return data;
  };
  return {
    get,
    ask: async (expression) => {
      const asked = new URLSearchParams({ query: expression });
      return ((await get(`query?${asked.toString()}`)) as { result: readonly Sample[] }).result;
    },
    stop: () => server.stop(),
  };
}

const readyRequest = `GET /-/ready HTTP/1.1\r\nHost: ${loopback}\r\nConnection: close\r\n\r\n`;
