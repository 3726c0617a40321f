/** A session of the console as a page has it: the cookie, and the id by which the page names the session. */
import { type Client, type Reply } from "./client.ts";
import { textOf } from "./json.ts";

type Headers = Readonly<Record<string, string>>;
export type PageSession = { readonly cookie: string; readonly "posthaste-session": string };

export const enter = (client: Client, headers: Headers): Promise<Reply> =>
  client.call("POST", "/console/session", headers);

/** `client` has no token. */
export async function begin(client: Client, authorization: string): Promise<PageSession> {
  const reply = await enter(client, { authorization });
  const cookie = String(reply.headers["set-cookie"]).split(";", 1)[0] ?? "";
  return { cookie, "posthaste-session": textOf(reply.object()["session"]) };
}

export const leave = (client: Client, session: PageSession): Promise<Reply> =>
  client.call("DELETE", "/console/session", session);
