import { type Reporter, metricCatalogue } from "@posthaste/ports";

export type Scrape = {
  readonly text: string;
  readonly types: ReadonlyMap<string, string>;
  /** Returns the value of a sample such as `posthaste_attempts_total{outcome="delivered"}`. */
  readonly value: (sample: string) => number | undefined;
};

const declaration = /^# TYPE (\S+) (counter|gauge|histogram)$/;
const sampleLine = /^([a-z_]+(?:\{[a-z_]+="[^"\\]*"\})?) (\S+)$/;

/** Throws for a line that is not a metric. */
export async function scrape(port: number): Promise<Scrape> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`);
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status} ${text}`);
  const types = new Map<string, string>();
  const values = new Map<string, number>();
  for (const line of text.trimEnd().split("\n")) {
    const [, declared, type] = declaration.exec(line) ?? [];
    const [, sample, value] = sampleLine.exec(line) ?? [];
    if (declared !== undefined && type !== undefined) types.set(declared, type);
    else if (sample !== undefined) values.set(sample, Number(value));
    else if (!line.startsWith("# HELP ")) throw new Error(`not a line of metrics: ${line}`);
  }
  return { text, types, value: (sample) => values.get(sample) };
}

export const promisedBy = (service: Reporter): readonly string[] =>
  Object.entries(metricCatalogue)
    .filter(([, { by }]) => by.some((name) => name === service))
    .map(([name]) => name);
