/** Publishes without pause from several connections, through kills; writes down what was acknowledged. */
import { Agent, request } from "node:http";
import { bodyOf } from "./body.ts";
import { type Ack, type Journal, type Kind } from "./journal.ts";

export type Target = {
  readonly port: number;
  readonly token: string;
  readonly destination: string;
};

const connections = 48;
const pauseAfterFailureMs = 20;
const kinds: readonly Kind[] = [
  "plain",
  "plain",
  "plain",
  "plain",
  "delayed",
  "flaky",
  "callback",
  "deduplicated",
];
const delayMs = 1_000;

export class Publisher {
  readonly #target: Target;
  readonly #journal: Journal<Ack>;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: connections });
  readonly #loops: Promise<void>[] = [];
  #next = 0;
  #acknowledged = 0;
  #stopped = false;

  constructor(target: Target, journal: Journal<Ack>) {
    this.#target = target;
    this.#journal = journal;
  }

  get acknowledged(): number {
    return this.#acknowledged;
  }

  start(): void {
    for (let i = 0; i < connections; i++) this.#loops.push(this.#loop());
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#loops);
    this.#agent.destroy();
  }

  async #loop(): Promise<void> {
    while (!this.#stopped) {
      const n = this.#next++;
      const kind = kinds[n % kinds.length] ?? "plain";
      const sentAt = Date.now();
      let id = await this.#publish(n, kind);
      // What a caller does who asked for deduplication and does not know the outcome: the same again.
      while (id === undefined && kind === "deduplicated" && !this.#stopped)
        id = await this.#publish(n, kind);
      if (id === undefined) continue;
      this.#acknowledged += 1;
      this.#journal.write({
        at: Date.now(),
        n,
        kind,
        id,
        notBefore: kind === "delayed" ? sentAt + delayMs : sentAt,
      });
    }
  }

  async #publish(n: number, kind: Kind): Promise<string | undefined> {
    try {
      return await this.#post(n, kind);
    } catch {
      await new Promise((resolve) => setTimeout(resolve, pauseAfterFailureMs));
      return undefined;
    }
  }

  #post(n: number, kind: Kind): Promise<string | undefined> {
    const { port, token, destination } = this.#target;
    const body = bodyOf(n);
    const path = `/v2/publish/${destination}/${kind === "flaky" ? "flaky" : "arrival"}`;
    const headers = {
      authorization: `Bearer ${token}`,
      "content-length": body.length,
      ...headersOf(n, kind, destination),
    };
    return new Promise((resolve, reject) => {
      const sent = request(
        { agent: this.#agent, port, host: "127.0.0.1", method: "POST", path, headers },
        (response) => {
          const chunks: Buffer[] = [];
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.on("error", reject);
          response.on("end", () => {
            const text = Buffer.concat(chunks).toString();
            if (response.statusCode !== 200 && response.statusCode !== 202) resolve(undefined);
            else resolve((JSON.parse(text) as { messageId: string }).messageId);
          });
        },
      );
      sent.on("error", reject);
      sent.end(body);
    });
  }
}

function headersOf(n: number, kind: Kind, destination: string): Record<string, string> {
  const policy = { "service-retries": "20", "service-retry-delay": "100" };
  switch (kind) {
    case "plain":
    case "flaky":
      return policy;
    case "delayed":
      return { ...policy, "service-delay": "1s" };
    case "callback":
      return { ...policy, "service-callback": `${destination}/callback` };
    case "deduplicated":
      return { ...policy, "service-deduplication-id": `n-${n}` };
  }
}
