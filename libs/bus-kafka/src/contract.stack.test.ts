/** The bus of this package keeps its contract, on the broker of the stack. Each test has topics of its own. */
import { describeEventBus } from "@posthaste/testing/contract";
import { eventually } from "./events.fixture.ts";
import { openBuses } from "./opened.fixture.ts";

describeEventBus("Kafka", async () => {
  const { open, close } = openBuses();
  const [bus, other] = [await open(), await open()];
  await eventually(() => bus.isUp() && other.isUp());
  return {
    bus,
    other,
    advance: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    close,
  };
});
