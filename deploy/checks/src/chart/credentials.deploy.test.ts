import { beforeAll, expect, it, jest } from "@jest/globals";
import { type ClusterSecrets } from "../tools/cluster.ts";
import { buildMsMax, describeWith } from "../tools/describe-with.ts";
import { buildHelm } from "../tools/helm.ts";
import { render, type Rendered } from "./manifests.ts";
import { serviceOf } from "./pod-environment.ts";

jest.setTimeout(buildMsMax);

const credentialsOf = ({ of }: Rendered) =>
  of("Secret").find(({ metadata }) => metadata.name === "posthaste-credentials")?.data;
const templatesOf = ({ of }: Rendered) =>
  new Map(of("Deployment").map((deployment) => [serviceOf(deployment), deployment.spec.template]));

/** Returns the services whose pods an upgrade from one render to the other replaces. */
function replaced(before: Rendered, after: Rendered): readonly string[] {
  const [old, young] = [templatesOf(before), templatesOf(after)];
  return [...old.keys()].filter(
    (name) => JSON.stringify(old.get(name)) !== JSON.stringify(young.get(name)),
  );
}

describeWith(["go"], "the chart's secrets", () => {
  beforeAll(buildHelm);

  it("are made anew for each release, or taken from the Secret that the operator names", async () => {
    const [one = {}, other = {}] = [await render("minimal"), await render("minimal")].map(
      credentialsOf,
    );

    expect(Object.keys(one)).toEqual([
      "management-password",
      "sealing-keys",
      "signing-key-current",
      "signing-key-next",
      "token",
    ]);
    for (const [name, value] of Object.entries(one)) expect(other[name]).not.toBe(value);
    expect((await render("production")).of("Secret")).toEqual([]);
  });

  it("are kept by an upgrade, which makes those that the earlier release did not have", async () => {
    const kept = { token: "dG9rZW4=", "sealing-keys": "c2VhbGVk" };
    const secrets = { "posthaste-credentials": kept };

    const data = credentialsOf(await render("minimal", [], { secrets }));

    expect(data).toMatchObject(kept);
    expect(data?.["management-password"]).toMatch(/.{32}/);
  });

  it("are refused where a render sees no cluster, unless the operator brings them, and then two renders are the same", async () => {
    const offline = { secrets: undefined };
    await expect(render("minimal", [], offline)).rejects.toThrow(
      "credentials: this render sees no cluster",
    );

    const [one, other] = [
      await render("production", [], offline),
      await render("production", [], offline),
    ];
    expect(one.text).toBe(other.text);
  });

  it("replace no pods while they stay as they are, from the first upgrade on", async () => {
    const installed = await render("minimal");
    const secrets = { "posthaste-credentials": credentialsOf(installed) ?? {} };

    const upgraded = await render("minimal", [], { secrets });

    expect(credentialsOf(upgraded)).toEqual(credentialsOf(installed));
    expect(replaced(installed, upgraded)).toEqual([]);
  });

  it("replace the pods that read a store's new address", async () => {
    const secrets = { "posthaste-credentials": credentialsOf(await render("minimal")) ?? {} };
    const before = await render("minimal", [], { secrets });

    const moved = await render("minimal", ["redis.url=redis://another:6379"], { secrets });

    expect(replaced(before, moved)).toEqual(["deliverer", "gateway", "scheduler"]);
  });

  it("replace the pods that mount a Secret of the operator's which was rotated, and no others", async () => {
    const held = (redis: string): ClusterSecrets => ({
      "redis-user": { url: redis, unread: "x" },
      posthaste: { token: "dG9rZW4=", "management-password": "b2xk" },
    });
    const before = await render("production", [], { secrets: held("b2xk") });
    const rotated = held("bmV3");
    const off = ["rollOnSecretChange=false"];

    expect(replaced(before, await render("production", [], { secrets: rotated }))).toEqual([
      "deliverer",
      "gateway",
      "scheduler",
    ]);
    const unread = { ...held("b2xk"), "redis-user": { url: "b2xk", unread: "y" } };
    expect(replaced(before, await render("production", [], { secrets: unread }))).toEqual([]);
    expect(
      replaced(
        await render("production", off, { secrets: held("b2xk") }),
        await render("production", off, { secrets: rotated }),
      ),
    ).toEqual([]);
  });
});
