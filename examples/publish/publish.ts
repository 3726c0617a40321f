/** Publishes an order and follows it to its end: `node publish.ts <destination> [id]`. */
import { createClient } from "@posthaste/client";

const { POSTHASTE_URL: url = "http://127.0.0.1:8080", POSTHASTE_TOKEN: token = "" } = process.env;
const [to = "", id = "17"] = process.argv.slice(2);

const client = createClient({ url, token });
const { messageId } = await client.publishJson({
  to: to as `http://${string}`,
  json: { id, items: ["lamp"] },
  label: "orders",
  retries: 3,
  retryDelay: "500",
  // A repeated publish within ten minutes, by mistake or after an error, makes no second order.
  deduplicationId: `order-${id}`,
});
console.log(messageId);

// Starts a minute ago, since some events have already happened.
const since = { messageId, fromDate: Date.now() - 60_000 };
for await (const { state, error, responseStatus } of client.follow(since)) {
  console.log(state, error ?? responseStatus ?? "");
  if (state === "DELIVERED" || state === "FAILED" || state === "CANCELED") break;
}
client.close();
