/** Polls the running services and reports each change of readiness. */
import { type RunningService } from "./services.ts";

const everyMs = 2_000;
const answerMsMax = 2_000;

/** `change`: "ready", or "not ready: bus: no broker answers". A service that does not run is not polled. */
export function watchReadiness(
  services: readonly RunningService[],
  tell: (name: string, change: string) => void,
): { stop(): void } {
  const last = new Map(services.map(({ name }) => [name, "ready"]));
  const timer = setInterval(() => {
    for (const service of services) {
      void readinessOf(service).then((now) => {
        if (now === undefined || now === last.get(service.name)) return;
        last.set(service.name, now);
        tell(service.name, now);
      });
    }
  }, everyMs);
  return { stop: () => clearInterval(timer) };
}

async function readinessOf({ url, process }: RunningService): Promise<string | undefined> {
  if (!process.isRunning) return undefined;
  try {
    const signal = AbortSignal.timeout(answerMsMax);
    const answer = await fetch(`${url}/readyz`, { signal });
    const body: unknown = await answer.json();
    return describeReadiness(answer.status, body);
  } catch {
    return process.isRunning ? "not ready: it does not answer" : undefined;
  }
}

/** `body` is the body of `/readyz`: `{ ready, missing?, degraded? }`. */
export function describeReadiness(status: number, body: unknown): string {
  const of = (key: string): readonly unknown[] => {
    const value: unknown =
      typeof body === "object" && body !== null ? Reflect.get(body, key) : undefined;
    return Array.isArray(value) ? value : [];
  };
  if (status !== 200) return `not ready: ${of("missing").join("; ")}`;
  const degraded = of("degraded");
  return degraded.length > 0 ? `ready, but ${degraded.join("; ")}` : "ready";
}
