/** One publish over plain HTTP, and its answer. */
import { type Agent, request } from "node:http";
import { bodyOf } from "../history/body.ts";
import { type Ack, now, type Refusal } from "../history/journal.ts";
import { type Kind, planOf } from "../history/kinds.ts";

export type Target = {
  readonly port: number;
  readonly token: string;
  /** Such as "http://127.0.0.1:1234". */
  readonly destination: string;
};

export type Answer =
  | { readonly kind: "acknowledged"; readonly ack: Ack }
  | { readonly kind: "refused"; readonly refusal: Refusal };

type Reply = { readonly status: number; readonly text: string };

export async function publish(
  target: Target,
  agent: Agent,
  n: number,
  kind: Kind,
): Promise<Answer> {
  const plan = planOf(kind, n, target.destination);
  const sentAt = now();
  const { status, text } = await post(target, agent, n, plan).catch((error: unknown): Reply => ({
    status: 0,
    text: String(error),
  }));
  const at = now();
  if (status !== 200 && status !== 202)
    return { kind: "refused", refusal: { sentAt, at, n, kind, status, text } };
  const { messageId: id } = JSON.parse(text) as { readonly messageId: string };
  return {
    kind: "acknowledged",
    ack: { sentAt, at, n, kind, id, notBefore: sentAt + plan.delayMs },
  };
}

function post(
  { port, token, destination }: Target,
  agent: Agent,
  n: number,
  { path, headers }: ReturnType<typeof planOf>,
): Promise<Reply> {
  const body = bodyOf(n);
  const options = {
    agent,
    port,
    host: "127.0.0.1",
    method: "POST",
    path: `/v2/publish/${destination}${path}`,
    headers: {
      authorization: `Bearer ${token}`,
      "content-length": body.length,
      ...headers,
    },
  };
  return new Promise((resolve, reject) => {
    const sent = request(options, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }),
      );
    });
    sent.on("error", reject);
    sent.end(body);
  });
}
