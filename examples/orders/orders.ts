/**
 * An order, from its payment to its delivery: a workflow with every kind of step. Each `context.…` runs once and its
 * result is kept, whatever crashes in between.
 */
import { createWorkflow } from "@upstash/workflow/express";
import { WorkflowNonRetryableError, type WorkflowContext } from "@upstash/workflow";

export type Order = {
  readonly id: string;
  readonly cents: number;
  readonly items: readonly string[];
  /** Unix seconds. The order is not sent before. */
  readonly sendFrom?: number;
};

/** The functions of the shop that the workflow calls. */
export type Shop = {
  /** Resolves with null when an item is out of stock. */
  readonly reserve: (order: Order) => Promise<string | null>;
  readonly release: (orderId: string) => Promise<void>;
  readonly charge: (order: Order) => Promise<string>;
  readonly isFraud: (order: Order) => Promise<boolean>;
  /** The carrier prints labels here, and calls the webhook later. */
  readonly carrierUrl: string;
};

export type Done = {
  readonly payment: string;
  readonly label: string;
  readonly invoice: string;
  readonly signedBy: string;
};

export function orderWorkflows(shop: Shop, settle: number) {
  /** A workflow of its own, which the order invokes. */
  const invoice = createWorkflow(async (context: WorkflowContext<{ order: string }>) => {
    const { order } = context.requestPayload;
    return context.run("number", () => `invoice-${order}`);
  });

  const order = createWorkflow(
    async (context: WorkflowContext<Order>): Promise<Done> => {
      const given = context.requestPayload;
      const reservation = await context.run("reserve", () => shop.reserve(given));
      // Ends the run as cancelled, without its failure function.
      if (reservation === null) await context.cancel();

      // Runs two steps in parallel.
      const [payment, fraud] = await Promise.all([
        context.run("charge", () => shop.charge(given)),
        context.run("check", () => shop.isFraud(given)),
      ]);
      // Ends the retries. The failure function releases the items.
      if (fraud) throw new WorkflowNonRetryableError(`order ${given.id} is fraud`);

      // The server makes the call, so this process may end while the carrier works.
      const webhook = await context.createWebhook("webhook");
      const { body: label } = await context.call<string>("label", {
        url: `${shop.carrierUrl}/labels`,
        method: "POST",
        body: JSON.stringify({ order: given.id, tell: webhook.webhookUrl }),
        retries: 3,
      });

      await context.sleep("settle", settle);
      if (given.sendFrom !== undefined) await context.sleepUntil("send from", given.sendFrom);
      const { eventData: packed, timeout } = await context.waitForEvent<string>(
        "packed",
        `packed:${given.id}`,
        { timeout: "1d" },
      );
      if (timeout) throw new WorkflowNonRetryableError(`order ${given.id} was never packed`);

      const { body: made } = await context.invoke("invoice", {
        workflow: invoice,
        body: { order: given.id },
      });
      const { request } = await context.waitForWebhook("delivered", webhook, "7d");
      const signedBy = (await request?.text()) ?? "";
      await context.notify("tell", `delivered:${given.id}`, { packed, signedBy });
      return { payment, label, invoice: String(made), signedBy };
    },
    {
      failureFunction: async ({ context }) => {
        await shop.release(context.requestPayload.id);
      },
    },
  );
  return { order, invoice };
}
