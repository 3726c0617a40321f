// Checks this container's own service: node deploy/image/healthcheck.js /healthz | /readyz. Exits with 0 for a yes.
const [, , path = "/healthz"] = process.argv;
const url = `http://localhost:${process.env.POSTHASTE_PORT}${path}`;

try {
  const response = await fetch(url, { signal: AbortSignal.timeout(4_000) });
  process.stdout.write(`${response.status} ${await response.text()}\n`);
  process.exitCode = response.ok ? 0 : 1;
} catch (error) {
  process.stdout.write(`${url}: ${error.cause?.message ?? error.message}\n`);
  process.exitCode = 1;
}
