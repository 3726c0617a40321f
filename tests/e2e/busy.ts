/** Produces something of everything that is counted, for tests of metrics and dashboards. A round takes moments and may be repeated. */
import { type Client } from "./client.ts";
import { always, type Destination, failing } from "./destination.ts";
import { service } from "./dialects.ts";
import { runAndWait } from "./metered-runs.ts";

const bodyBytes = 200_000;

export class Busy {
  readonly #client: Client;
  readonly #destination: Destination;
  #rounds = 0;

  constructor(client: Client, destination: Destination) {
    this.#client = client;
    this.#destination = destination
      .answers("/no", always(500))
      .answers("/second-time", failing(1))
      .answers("/queued", (_, response) => setTimeout(() => response.end(), queuedMs))
      // Holds its call, and what it has answered so far.
      .answers("/held", (_, response) => response.write("x".repeat(bodyBytes)));
  }

  async begin(): Promise<void> {
    const { url } = this;
    const lane = { "flow-control-key": "slow", "flow-control-value": "rate=1, period=1h" };
    for (let n = 0; n < 3; n++) await this.#publish("/laned", lane);
    await this.#client.post(`/v2/schedules/${url("/scheduled")}`, { "service-cron": "* * * * *" });
  }

  async round(): Promise<void> {
    const nth = `${++this.#rounds}`;
    await this.#publish("/yes", { callback: this.url("/callback") });
    await this.#publish("/yes", { "deduplication-id": "once" });
    await this.#publish("/second-time", { retries: "1", "retry-delay": "10" });
    await this.#publish("/no", { retries: "0", "failure-callback": this.url("/callback") });
    await this.#publish("/later", { delay: "1h", label: nth });
    for (let n = 0; n < 5; n++)
      await this.#client.post(`/v2/enqueue/line/${this.url("/queued")}`, {}, "");
    await this.#client.delete(`/v2/messages?label=${nth}`);
    await this.#publish("/held", { retries: "0", timeout: "10s" }, "x".repeat(bodyBytes));
    await runAndWait(this.#client, this.url("/run"), `busy-${nth}`);
  }

  readonly url = (path: string): string => this.#destination.url(path);

  async #publish(path: string, settings: Readonly<Record<string, string>>, body = "") {
    const headers = service(settings);
    const reply = await this.#client.publish(this.url(path), headers, body);
    if (reply.status > 202) throw new Error(`${reply.status} ${reply.text}`);
  }
}

const queuedMs = 200;
