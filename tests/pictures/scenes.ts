/** The pages of which there is a picture, and the actions on them before it. */
import { type Page } from "playwright-core";
import { type Shop } from "./shop.ts";

export type Picture = {
  readonly scene: string;
  readonly at: string;
  readonly act?: (page: Page) => Promise<void>;
};

export const tenantPictures = (shop: Shop): readonly Picture[] => [
  {
    scene: "overview",
    at: "/",
    act: (page) => page.getByText("the card was declined").first().waitFor(),
  },
  { scene: "messages", at: "/messages" },
  { scene: "message", at: `/messages/${shop.failedMessage}` },
  { scene: "message-delivered", at: `/messages/${shop.deliveredMessage}` },
  {
    scene: "messages-cancel",
    at: "/messages?label=report",
    act: async (page) => {
      await page.getByRole("button", { name: "Cancel all of these…" }).click();
      await page.getByRole("alertdialog").waitFor();
    },
  },
  { scene: "bulk-action", at: `/bulk-actions/${shop.bulkAction}` },
  {
    scene: "dead-letters",
    at: "/dead-letters",
    act: async (page) => {
      await page.getByRole("button", { name: "Retry all of these…" }).click();
      await page.getByText("would be retried").waitFor();
    },
  },
  { scene: "dead-letter", at: `/dead-letters/${shop.letter}` },
  { scene: "dead-letter-edit", at: `/publish?letter=${shop.letter}` },
  {
    scene: "runs",
    at: "/runs?state=RUN_FAILED",
    act: async (page) => {
      await page.getByRole("button", { name: "Restart all of these…" }).click();
      await page.getByText("would be restarted").waitFor();
    },
  },
  { scene: "runs-all", at: "/runs" },
  {
    scene: "run",
    at: "/runs/wfr_order-17",
    act: async (page) => {
      await page.getByRole("option", { name: /charge/ }).click();
      await page.getByRole("region", { name: "Step charge" }).waitFor();
    },
  },
  {
    scene: "run-graph",
    at: "/runs/wfr_order-17?view=graph",
    act: async (page) => {
      await page.locator(".graph-node", { hasText: "charge" }).click();
      await page.getByRole("region", { name: "Step charge" }).waitFor();
    },
  },
  { scene: "run-waits", at: "/runs/wfr_refund-18" },
  { scene: "schedules", at: "/schedules" },
  { scene: "schedule", at: "/schedules/weekly-mail" },
  { scene: "schedule-new", at: "/schedule" },
  { scene: "queues", at: "/queues" },
  { scene: "queue", at: "/queues/mails" },
  { scene: "groups", at: "/groups" },
  { scene: "group", at: "/groups/order-events" },
  { scene: "flow-keys", at: "/flow-keys" },
  {
    scene: "flow-key-pin",
    at: "/flow-keys?search=carrier",
    act: (page) => page.getByRole("button", { name: "Pin carrier" }).click(),
  },
  { scene: "limits", at: "/limits" },
  { scene: "publish", at: "/publish" },
  {
    scene: "find",
    at: "/queues",
    act: async (page) => {
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox", { name: "Go to anything" }).fill("order");
      await page.getByRole("option").first().waitFor();
    },
  },
];

export const operatorPictures: readonly Picture[] = [
  { scene: "tenants", at: "/" },
  { scene: "tenant", at: "/tenants/defaultUser" },
];
