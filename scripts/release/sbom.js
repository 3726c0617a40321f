/** Renders the SBOM of Posthaste as CycloneDX 1.6, for scanners and registries. Pure. */
export function renderSbom({ version, at, homepage, packages, base }) {
  const own = `pkg:npm/posthaste@${version}`;
  const components = [
    ...packages.map(componentOf),
    ...(base === undefined ? [] : [{ type: "container", "bom-ref": base, name: base }]),
  ];
  const document = {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      timestamp: at,
      component: {
        type: "application",
        "bom-ref": own,
        name: "posthaste",
        version,
        purl: own,
        licenses: [{ license: { id: "Apache-2.0" } }],
        externalReferences: [{ type: "vcs", url: homepage }],
      },
    },
    components,
    dependencies: [{ ref: own, dependsOn: components.map((each) => each["bom-ref"]) }],
  };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

function componentOf({ name, version, license }) {
  const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
  const [, group, short] = /^(@[^/]+)\/(.+)$/.exec(name) ?? [undefined, undefined, name];
  // An expression, such as "(MIT OR CC0-1.0)", is not an id.
  const licensed = license.startsWith("(") ? { expression: license } : { license: { id: license } };
  return {
    type: "library",
    "bom-ref": purl,
    ...(group === undefined ? {} : { group }),
    name: short,
    version,
    purl,
    licenses: [licensed],
  };
}
