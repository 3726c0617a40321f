/** Tests workflow runs in the console: as a list, on a scale of time, as a graph; restarted, resumed and cancelled. */
import { afterAll, beforeAll, describe, expect, jest } from "@jest/globals";
import { Client as Qstash } from "@upstash/qstash";
import { Client as Workflows, serve } from "@upstash/workflow";
import { type Page } from "playwright-core";
import { eventually, hasLength } from "./client.ts";
import { consolePages, journey } from "./console-pages.ts";
import { find, isThere, visit } from "./console-site.ts";
import { readOnlyToken } from "./users.ts";
import { developmentToken } from "./server-process.ts";
import { WorkflowEndpoint } from "./workflow-endpoint.ts";

type Route = Parameters<typeof serve<string>>[0];

const pages = consolePages();
let endpoint: WorkflowEndpoint;

beforeAll(async () => {
  // The SDK prints each error of a step.
  jest.spyOn(console, "error").mockImplementation(() => undefined);
  endpoint = await WorkflowEndpoint.start();
});
afterAll(() => endpoint.stop());

const settings = () => ({ baseUrl: pages.origin, token: developmentToken });

function workflow(path: string, route: Route): string {
  const options = { qstashClient: new Qstash(settings()), disableTelemetry: true };
  return endpoint.route(path, serve<string>(route, options).handler);
}

type Started = { readonly id: string; readonly state: (wanted: string) => Promise<unknown> };

async function started(
  url: string,
  more: { readonly workflowRunId?: string; readonly label?: string } = {},
): Promise<Started> {
  const client = new Workflows(settings());
  const { workflowRunId: id } = await client.trigger({ url, body: "payload", retries: 0, ...more });
  const state = (wanted: string) =>
    eventually(
      async () => (await client.logs({ workflowRunId: id })).runs,
      ([run]) => run?.workflowState === wanted,
    );
  return { id, state };
}

async function cutSteps(page: Page): Promise<readonly string[]> {
  const box = await page.getByRole("region", { name: "Graph of the run" }).boundingBox();
  const cut: string[] = [];
  for (const step of await page.locator(".graph-node").all()) {
    const at = await step.boundingBox();
    if (box === null || at === null || !isInside(at, box)) cut.push(await step.innerText());
  }
  return cut;
}

type Box = {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
};

const isInside = (a: Box, b: Box): boolean =>
  a.x >= b.x && a.y >= b.y && a.x + a.width <= b.x + b.width && a.y + a.height <= b.y + b.height;

describe("a run", () => {
  journey("is shown step by step, with its results on request, and as a graph", async () => {
    const url = workflow("/shown", async (context) => {
      const order = await context.run("read-order", () => ({ order: context.requestPayload }));
      await Promise.all([
        context.run("charge", () => ({ charged: order })),
        context.run("reserve", () => "reserved"),
      ]);
      await context.run("ship", () => "shipped");
    });
    const { id, state } = await started(url);
    await state("RUN_SUCCESS");
    const opened = await pages.signedIn("#/runs");
    const { page, look } = opened;
    const bodiesAsked: string[] = [];
    page.on("request", (request) => {
      const trim = new URL(request.url()).searchParams.get("trimBody");
      if (request.url().includes("/workflows/") && trim !== null && trim !== "0")
        bodiesAsked.push(trim);
    });

    await page.getByRole("link", { name: id }).click();
    await page.getByRole("heading", { level: 1, name: `Run ${id}` }).waitFor();
    const steps = page.getByRole("listbox", { name: "Steps in their order" });
    await steps.getByRole("option", { name: /ship/ }).waitFor();
    await look();
    const before = [...bodiesAsked];
    await steps.focus();
    for (const key of ["ArrowDown", "ArrowDown", "ArrowDown"]) await page.keyboard.press(key);
    await page.getByRole("region", { name: "Step charge" }).getByText('"payload"').waitFor();
    await look();
    await page.getByRole("link", { name: "Graph" }).click();
    await page.getByRole("button", { name: /reserve/ }).click();
    await page.getByRole("region", { name: "Step reserve" }).getByText("reserved").waitFor();
    await look();
    await eventually(() => cutSteps(page), hasLength(0));

    expect(before).toEqual([]);
    expect(await page.getByRole("listbox").count()).toBe(0);
  });

  for (const does of ["Restart", "Resume"] as const) {
    journey(
      `that failed shows the reason, and is ${does === "Restart" ? "restarted" : "resumed"}`,
      async () => {
        let isBroken = true;
        let firsts = 0;
        const url = workflow(`/failed-${does}`, async (context) => {
          const first = await context.run("first", () => `seen ${(firsts += 1)}`);
          await context.run("second", () => {
            if (isBroken) throw new Error("the carrier does not answer");
            return first;
          });
        });
        const { id, state } = await started(url);
        await state("RUN_FAILED");
        const opened = await pages.signedIn(`#/runs/${id}`);
        const { page } = opened;

        await isThere(page, "The step second failed after 1 attempt: status 500, the carrier");
        await page.getByRole("option", { name: /failed/ }).click();
        await page
          .getByRole("region", { name: "Step second" })
          .getByText("the carrier does not answer")
          .first()
          .waitFor();
        await opened.look();
        isBroken = false;
        await page.getByRole("button", { name: `${does} ${id}` }).click();
        await page
          .getByRole("heading", { level: 1, name: `Run ${id}` })
          .waitFor({ state: "detached" });
        await isThere(page, /^succeeded$/);
        await visit(opened, "/runs", "Runs");
        await isThere(page, /^succeeded$/);

        expect(firsts).toBe(does === "Restart" ? 2 : 1);
      },
    );
  }

  journey("that failed is restarted or resumed with every run of a filter, once", async () => {
    let isBroken = true;
    let firsts = 0;
    const url = workflow("/all-again", async (context) => {
      await context.run("first", () => (firsts += 1));
      await context.run("second", () => {
        if (isBroken) throw new Error("the carrier does not answer");
      });
    });
    const label = "all-again";
    const begin = async () => {
      const begun = [1, 2].map(() => started(url, { label }));
      for (const { state } of await Promise.all(begun)) await state("RUN_FAILED");
    };
    await begin();
    isBroken = false;
    const opened = await pages.signedIn(`#/runs?label=${label}&state=RUN_FAILED`);
    const { page, look } = opened;
    const succeeded = (count: number) =>
      eventually(
        () => new Workflows(settings()).logs({ label, state: "RUN_SUCCESS" }),
        ({ runs }) => runs.length === count,
      );

    await page.getByRole("button", { name: "Restart all of these…" }).click();
    await isThere(page, "2 runs would be restarted");
    await isThere(page, /2 ×.*all-again/);
    await look();
    await page.getByRole("button", { name: "Restart 2" }).click();
    await isThere(page, "2 of 2 restarted");
    await succeeded(2);
    await page.getByRole("button", { name: "Resume all of these…" }).click();
    await isThere(page, "Nothing matches.");
    isBroken = true;
    await begin();
    isBroken = false;
    await page.getByRole("button", { name: "Resume all of these…" }).click();
    await page.getByRole("button", { name: "Resume 2" }).click();
    await isThere(page, "2 of 2 resumed");
    await succeeded(4);

    // Twice two failed runs, and the two restarted ones. A resumed run keeps its first step's result.
    expect(firsts).toBe(6);
  });

  journey("that is active is cancelled with every run of a filter, and no others", async () => {
    const given = "order:18,eu;it's";
    const url = workflow("/all-cancelled", async (context) => context.sleep("long", "1h"));
    const mine = await started(url, { label: "all-cancelled", workflowRunId: given });
    const other = await started(url, { label: "not-cancelled" });
    await eventually(
      () => new Workflows(settings()).logs({ label: "all-cancelled", state: "RUN_STARTED" }),
      ({ runs }) => runs.length === 1,
    );
    const { page } = await pages.signedIn("#/runs?label=all-cancelled&state=RUN_STARTED");

    await page.getByRole("button", { name: "Cancel all of these…" }).click();
    await isThere(page, "1 run would be cancelled");
    await page.getByRole("button", { name: "Cancel 1" }).click();
    await isThere(page, "1 of 1 cancelled");
    await mine.state("RUN_CANCELED");

    const { runs } = await new Workflows(settings()).logs({ workflowRunId: other.id });
    expect(runs[0]?.workflowState).toBe("RUN_STARTED");
  });

  journey("that is active is cancelled after a confirmation", async () => {
    const url = workflow("/cancelled", async (context) => context.sleep("long", "1h"));
    const { id, state } = await started(url);
    const reader = await pages.signedIn(`#/runs/${id}`, { token: readOnlyToken });
    await reader.page.getByRole("option", { name: /long/ }).waitFor();
    const forReaders = await reader.page.getByRole("button").allTextContents();
    const { page } = await pages.signedIn(`#/runs?workflowUrl=${encodeURIComponent(url)}`);

    await page.getByRole("button", { name: `Cancel ${id}` }).click();
    await page.getByRole("button", { name: `Yes, cancel ${id}` }).click();
    await state("RUN_CANCELED");
    await isThere(page, /^cancelled$/);

    expect(forReaders.filter((name) => /cancel|tell/i.test(name))).toEqual([]);
  });

  journey("opens by the link of any id, and by its name without the prefix", async () => {
    const given = "order:17@eu&a=b+c,$1;x!*'()";
    const url = workflow("/named", async (context) => context.run("only", () => "done"));
    const { state, id } = await started(url, { workflowRunId: given });
    await state("RUN_SUCCESS");
    const opened = await pages.signedIn(`#/runs?workflowUrl=${encodeURIComponent(url)}`);
    const { page, allowed } = opened;

    await page.getByRole("link", { name: id }).click();
    await page.getByRole("heading", { level: 1, name: `Run ${id}` }).waitFor();
    await page.getByRole("option", { name: /only/ }).waitFor();
    await visit(opened, "/messages", "Messages");
    await find(page, given, "Run");
    await page.getByRole("option", { name: /only/ }).waitFor();
    allowed.push(/404/);
  });

  journey("shows text of others as text, and redacted fields nowhere", async () => {
    const secret = "canary-31337";
    const name = "<img src=x onerror=alert(1)>\u202e";
    const url = workflow("/hostile", async (context) => {
      await context.run(name, () => `<script>alert(2)</script>${secret}`);
    });
    const headers = { "upstash-redact-fields": "body", "upstash-label": "hostile" };
    const begun = await pages.server.client.post(`/v2/trigger/${url}`, headers, secret);
    const id = String(begun.object()["workflowRunId"]);
    const opened = await pages.signedIn();
    const { page } = opened;

    await visit(opened, `/runs/${id}`, `Run ${id}`);
    await isThere(page, /^succeeded$/);
    await page.getByRole("option", { name: /onerror/ }).click();
    await isThere(page, "REDACTED:");
    expect(await page.locator("img, main script").count()).toBe(0);
    expect(await page.content()).not.toContain(secret);
    await page.getByRole("option", { name: /init/ }).click();
    await isThere(page, "REDACTED:");
    await page.getByRole("link", { name: "Graph" }).click();
    await page.getByRole("button", { name: /onerror/ }).waitFor();
    expect(await page.content()).not.toContain(secret);
    await visit(opened, "/runs?label=hostile", "Runs");
    await page.getByRole("link", { name: id }).waitFor();
    expect(await page.content()).not.toContain(secret);
  });

  journey("of ten thousand steps is shown in part, by a page that stays quick", async () => {
    const opened = await pages.signedIn();
    const { page } = opened;
    const began = 1_700_000_000_000;
    const steps = Array.from({ length: 10_000 }, (_, nth) => ({
      type: "sequential",
      steps: [
        {
          stepId: nth + 1,
          stepName: `step-${nth + 1}`,
          stepType: "Run",
          concurrent: 1,
          createdAt: began + (nth + 1) * 10,
          state: "STEP_SUCCESS",
        },
      ],
    }));
    const run = {
      workflowRunId: "wfr_large",
      workflowUrl: "https://workflow.example",
      workflowState: "RUN_SUCCESS",
      workflowRunCreatedAt: began,
      workflowRunCompletedAt: began + 100_000,
      steps,
    };
    // No server of a test makes such a run in time, so this answer replaces it.
    await page.route("**/v2/workflows/logs*", (route) =>
      route.fulfill({ json: { cursor: "", runs: [run] } }),
    );

    await visit(opened, "/runs/wfr_large", "Run wfr_large");
    await isThere(page, "10000 steps");
    const nodes = Number(await page.evaluate("document.querySelectorAll('main *').length"));
    await page.getByRole("listbox").focus();
    await page.keyboard.press("End");
    const last = page.getByRole("option", { name: "step-10000" });
    await last.waitFor();
    await page.getByRole("region", { name: "Step step-10000" }).waitFor();
    expect(await last.getAttribute("aria-posinset")).toBe("10000");
    await page.getByRole("link", { name: "Graph" }).click();
    // The graph is too long to draw whole, and the chosen step is in sight.
    await eventually(
      () => page.getByRole("button", { name: "step-10000" }).boundingBox(),
      (at) => at !== null && at.x > 0 && at.x + at.width < 1_280,
    );
    await page.getByRole("button", { name: "Close" }).click();
    await isThere(page, "more steps");
    const drawn = Number(await page.evaluate("document.querySelectorAll('main *').length"));

    expect(nodes).toBeLessThan(1_000);
    expect(drawn).toBeLessThan(3_000);
  });
});
