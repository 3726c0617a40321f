/** Reads the shown data again when the message log has grown. A tab in the background asks nothing. */
import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { type QueryMeta } from "./asked.ts";
import { apiBase } from "./call.ts";
import { createFollow, type Follow, type Told } from "./follow.ts";
import { type Asking, type Telling } from "./live-worker.ts";
import { useSession } from "./session.ts";

/** The shortest time between two reads, however much happens. */
const everyMs = 1_000;

export function useLive(): void {
  const { session } = useSession();
  const queries = useQueryClient();
  useEffect(
    () =>
      listen(followOf(session), ({ messageIds }) => {
        const isAbout = ({ fresh, messageId }: Partial<QueryMeta>): boolean =>
          fresh === "log" &&
          (messageId === undefined || messageIds === undefined || messageIds.includes(messageId));
        void queries.invalidateQueries({ predicate: ({ meta }) => isAbout(meta ?? {}) });
      }),
    [session, queries],
  );
}

function listen(follow: Follow, grown: (told: Told) => void): () => void {
  const ended = new AbortController();
  const { signal } = ended;
  const go = async (): Promise<void> => {
    let seen: number | undefined;
    while (!signal.aborted) {
      await untilVisible(signal);
      const told = await new Promise<Told>((resolve) => follow(seen, resolve));
      seen = told.nth;
      if (signal.aborted) return;
      grown(told);
      await new Promise((resolve) => setTimeout(resolve, everyMs));
    }
  };
  void go();
  return () => ended.abort();
}

function untilVisible(signal: AbortSignal): Promise<void> {
  if (document.visibilityState === "visible") return Promise.resolve();
  return new Promise((resolve) => {
    const look = (): void => {
      if (document.visibilityState !== "visible" && !signal.aborted) return;
      document.removeEventListener("visibilitychange", look);
      resolve();
    };
    document.addEventListener("visibilitychange", look);
    signal.addEventListener("abort", look);
  });
}

/** Follows by the shared worker or, in a browser without shared workers, by this page itself. */
function followOf(session: string): Follow {
  const base = apiBase();
  if (!("SharedWorker" in globalThis)) return createFollow(session, base);
  // Vite recognises the worker by this form.
  const { port } = new SharedWorker(new URL("./live-worker.ts", import.meta.url), {
    type: "module",
    name: "posthaste",
  });
  const tells = new Map<number, (told: Told) => void>();
  let ids = 0;
  port.addEventListener("message", ({ data: { id, told } }: MessageEvent<Telling>) => {
    tells.get(id)?.(told);
    tells.delete(id);
  });
  port.start();
  return (seen, tell) => {
    const id = ++ids;
    tells.set(id, tell);
    port.postMessage({ id, session, base: base.href, seen } satisfies Asking);
  };
}
