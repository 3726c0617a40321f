/** Handles an order of a shop, for every kind of server. */
import {
  createReceiver,
  NonRetryable,
  type Receiver,
  RetryAfter,
} from "@posthaste/client/receiver";

type Order = { readonly id: string; readonly items: readonly string[] };

export type Shop = { readonly isOpen: () => boolean; readonly pack: (order: Order) => void };

export const ordersReceiver = ({ isOpen, pack }: Shop): Receiver =>
  createReceiver(
    ({ json, retried, messageId }) => {
      const order = json();
      // Not retried: the message becomes a dead letter at once.
      if (!isOrder(order)) throw new NonRetryable("this is not an order");
      // Retried after at least a second.
      if (!isOpen()) throw new RetryAfter(1);
      pack(order);
      return { status: 200, body: JSON.stringify({ messageId, retried }) };
    },
    {
      keys: {
        current: process.env["POSTHASTE_SIGNING_KEY"] ?? "",
        next: process.env["POSTHASTE_NEXT_SIGNING_KEY"],
      },
      onProblem: (problem) => console.error(String(problem)),
    },
  );

/** A shop that is closed when first asked and open afterwards. Prints the orders that it packs. */
export function printingShop(): Shop {
  let asked = 0;
  return {
    isOpen: () => ++asked > 1,
    pack: ({ id, items }) => console.log(`packed ${id}: ${items.join(", ")}`),
  };
}

function isOrder(value: unknown): value is Order {
  if (typeof value !== "object" || value === null) return false;
  return (
    "id" in value && typeof value.id === "string" && "items" in value && Array.isArray(value.items)
  );
}
