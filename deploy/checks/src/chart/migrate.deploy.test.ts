/** Tests the Job that Helm runs before it installs or upgrades anything else. */
import { beforeAll, expect, it, jest } from "@jest/globals";
import { openSecrets, problemsOf } from "../environment.ts";
import { buildMsMax, describeWith } from "../tools/describe-with.ts";
import { buildHelm } from "../tools/helm.ts";
import { type Job, namespace, render, type Rendered } from "./manifests.ts";
import { environmentOf, filesOf } from "./pod-environment.ts";
import { reaches } from "./reach.ts";

jest.setTimeout(buildMsMax);

const hook = "helm.sh/hook";
const home = { "kubernetes.io/metadata.name": namespace };
const mongodb = {
  ...{ address: "10.1.2.3", pod: {} },
  namespace: { "kubernetes.io/metadata.name": "mongodb" },
};

describeWith(["go"], "the chart's migration", () => {
  beforeAll(buildHelm);

  const jobOf = ({ of }: Rendered): Job => {
    const [job] = of("Job");
    if (!job) throw new Error("no Job");
    return job;
  };

  it.each(["minimal", "external-stores", "production"])(
    "gives the process the variables that it reads, and no other secret, with the values of %s",
    async (valueSet) => {
      const rendered = await render(valueSet);
      const job = jobOf(rendered);
      const env = environmentOf(job);
      const files = filesOf(job, rendered.of("Secret"));

      expect(problemsOf("migrate", env, files)).toEqual([]);
      expect(openSecrets("migrate", env)).toEqual([]);
      expect(job.spec.template.spec.containers[0].args).toEqual([
        "services/migrate/process/main.ts",
      ]);
      expect(
        Object.keys(files).filter((path) => !/mongodb-(?:uri|tls-[a-z]+)$/.test(path)),
      ).toEqual([]);
    },
  );

  it("runs before an install and an upgrade, on nothing that the release has yet to make", async () => {
    const rendered = await render("minimal");
    const { of } = rendered;
    const job = jobOf(rendered);
    const { containers, restartPolicy, securityContext, serviceAccountName, volumes } =
      job.spec.template.spec;
    const [sibling] = of("Deployment");
    const mounted = volumes.flatMap(({ projected }) => projected?.sources ?? []);
    const before = of("Secret").filter(({ metadata }) => hook in (metadata.annotations ?? {}));

    expect(job.metadata.annotations[hook]).toBe("pre-install,pre-upgrade");
    expect(restartPolicy).toBe("Never");
    expect(serviceAccountName).toBeUndefined();
    expect(securityContext).toEqual(sibling?.spec.template.spec.securityContext);
    expect(containers[0].securityContext).toEqual(
      sibling?.spec.template.spec.containers[0].securityContext,
    );
    expect(mounted.map(({ secret }) => secret?.name)).toEqual(
      before.map(({ metadata }) => metadata.name),
    );
    for (const { metadata } of [...before, ...of("NetworkPolicy")])
      if (metadata.name.endsWith("-migrate"))
        expect(metadata.annotations).toMatchObject({
          [hook]: "pre-install,pre-upgrade",
          "helm.sh/hook-weight": "-1",
        });
  });

  it("reaches MongoDB through its network policy, and no other store", async () => {
    const rendered = await render("minimal");
    const { labels } = jobOf(rendered).spec.template.metadata;
    const to = (port: number) =>
      reaches(rendered.of("NetworkPolicy"), labels, mongodb, { protocol: "TCP", port }, home);

    expect([27_017, 9_092, 6_379, 443].filter(to)).toEqual([27_017]);
  });

  it.each([
    ["minimal", ["migrate.enabled=false"], []],
    ["standalone", [], []],
    ["minimal", ["migrate.onInstall=false"], ["pre-upgrade"]],
  ])(
    "is left out, or not run at an install, if %s says so with %j",
    async (valueSet, settings, hooks) => {
      const { of } = await render(valueSet, settings);

      expect(of("Job").map(({ metadata }) => metadata.annotations[hook])).toEqual(hooks);
      if (hooks.length === 0)
        for (const { metadata } of [...of("Secret"), ...of("NetworkPolicy")])
          expect(metadata.name).not.toMatch(/-migrate$/);
    },
  );
});
