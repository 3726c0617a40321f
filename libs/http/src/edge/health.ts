/** `/healthz`: this process runs. `/readyz`: it may be given work. Neither needs a token, and neither is ever refused. */
import { type IncomingMessage, type ServerResponse } from "node:http";
import { type Readiness } from "@posthaste/ports";
import { answer } from "../answers/answer.ts";

/** Returns false when the request is for something else. */
export function answerHealth(
  req: IncomingMessage,
  res: ServerResponse,
  readiness: Readiness,
): boolean {
  const asksForHealth = req.url === "/healthz";
  if (!asksForHealth && req.url !== "/readyz") return false;
  if (req.method !== "GET") {
    answer(res, 405, `{"error":"method not allowed"}`, ["Allow", "GET"]);
  } else if (asksForHealth) {
    answer(res, 200, `{"healthy":true}`);
  } else {
    const [missing, degraded] = [readiness.missing(), readiness.degraded()];
    const shown = degraded.length > 0 ? { degraded } : {};
    if (missing.length === 0) answer(res, 200, JSON.stringify({ ready: true, ...shown }));
    else answer(res, 503, JSON.stringify({ ready: false, missing, ...shown }));
  }
  return true;
}
