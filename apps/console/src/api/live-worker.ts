/** The worker that all tabs share, with one long poll for each session. */
import { createFollow, type Follow, type Told } from "./follow.ts";

export type Asking = {
  readonly id: number;
  readonly session: string;
  readonly base: string;
  readonly seen: number | undefined;
};
export type Telling = { readonly id: number; readonly told: Told };

const follows = new Map<string, Follow>();

addEventListener("connect", (event) => {
  const [port] = event instanceof MessageEvent ? event.ports : [];
  port?.addEventListener("message", ({ data }: MessageEvent<Asking>) => {
    const { id, session, base, seen } = data;
    const key = `${base} ${session}`;
    const follow = follows.get(key) ?? createFollow(session, new URL(base));
    follows.set(key, follow);
    follow(seen, (told) => port.postMessage({ id, told } satisfies Telling));
  });
  port?.start();
});
