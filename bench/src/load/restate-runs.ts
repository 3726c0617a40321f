/** Runs trivial steps over Restate, whose ingress answers when a run has ended. */
import { Pool } from "undici";

const connections = 64;

export class RestateRuns {
  readonly #steps: string;
  readonly #pool: Pool;

  constructor(steps: number, port: number) {
    this.#steps = String(steps);
    this.#pool = new Pool(`http://127.0.0.1:${port}`, { connections, pipelining: 1 });
  }

  async run(): Promise<void> {
    const answered = await this.#pool.request({
      method: "POST",
      path: "/runs/steps",
      body: this.#steps,
      headers: { "content-type": "application/json" },
    });
    const text = await answered.body.text();
    if (answered.statusCode !== 200) throw new Error(`Restate: ${answered.statusCode} ${text}`);
  }

  stop(): Promise<void> {
    return this.#pool.close();
  }
}
