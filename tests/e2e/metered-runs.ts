/** Starts a run of one wait whose event comes, and one that is cancelled while it waits, by plain HTTP, as clients without an SDK do. */
import { type Client } from "./client.ts";

/** Resolves when the second run waits, after the end of the first. */
export async function runAndWait(client: Client, url: string, name = "metered"): Promise<void> {
  for (const id of [`${name}-one`, `${name}-two`]) {
    await client.published(url, { ...step(id), "service-workflow-init": "true" });
    await client.call(
      "POST",
      `/v2/wait/event-of-${id}`,
      { ...step(id), "content-type": "application/json" },
      JSON.stringify({
        url,
        timeout: "1h",
        timeoutUrl: url,
        timeoutHeaders: {},
        step: {
          stepId: 1,
          stepName: "waits",
          stepType: "Wait",
          concurrent: 1,
          waitEventId: `event-of-${id}`,
        },
      }),
    );
  }
  await client.call("POST", `/v2/notify/event-of-${name}-one`, {}, "{}");
  await client.call("DELETE", `/v2/workflows/runs/${name}-one?cancel=false`, {}, "");
}

const step = (id: string) => ({ "service-workflow-runid": id });
