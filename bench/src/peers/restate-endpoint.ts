/**
 * Runs trivial steps with Restate's own SDK. The request names the number of steps. `node restate-endpoint.ts <port> <folder
 * with the packages>`
 */
import { createRequire } from "node:module";
import { join } from "node:path";

type Context = { run(name: string, step: () => number): Promise<number> };
type Handler = (context: Context, steps: number) => Promise<string>;
type Sdk = {
  service(definition: {
    readonly name: string;
    readonly handlers: Readonly<Record<string, Handler>>;
  }): unknown;
  serve(options: { readonly services: readonly unknown[]; readonly port: number }): Promise<number>;
};

const [port, packages = ""] = process.argv.slice(2);
const restate = createRequire(join(packages, "package.json"))("@restatedev/restate-sdk") as Sdk;

const steps: Handler = async (context, count) => {
  for (let n = 1; n <= count; n++) await context.run(`step ${n}`, () => 1);
  return "done";
};

await restate.serve({
  services: [restate.service({ name: "runs", handlers: { steps } })],
  port: Number(port),
});
