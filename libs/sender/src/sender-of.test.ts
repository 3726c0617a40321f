import { afterEach, expect, it } from "@jest/globals";
import { type Metrics, noMetrics } from "@posthaste/ports";
import { senderOf } from "./sender-of.ts";
import {
  closeAll,
  inShort,
  loopbackPolicy,
  openDestination,
  realClock,
  requestTo,
} from "./test-kit.ts";

afterEach(closeAll);

const closing = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok";

it("the metric of late refusals counts connections that turned out to lead to a forbidden address", async () => {
  const watched = new Map<string, () => unknown>();
  const metrics: Metrics = { ...noMetrics, watch: (name, read) => void watched.set(name, read) };
  const turning = { ...loopbackPolicy, allowLoopback: true };
  const sender = senderOf({ maxInFlight: 1, maxWaiting: 1 }, turning, {
    clock: realClock,
    connectionsMax: 10,
    metrics,
  });
  const destination = await openDestination((socket) => socket.end(closing));
  const blocked = (): unknown => watched.get("posthaste_ssrf_blocked_late_total")?.();
  const request = requestTo(`http://127.0.0.1:${destination.port}/`);

  expect(blocked()).toBe(0);
  const { outcome } = sender.send(request);
  turning.allowLoopback = false;
  expect(inShort(await outcome)).toBe("unreachable address_refused");
  turning.allowLoopback = true;
  expect(inShort(await sender.send(request).outcome)).toBe("200 ok");

  expect(blocked()).toBe(1);
  await sender.close();
});
