/** The image's context: the files that deploy/Dockerfile copies, with the labels and the SBOM of a release. */
const pinned = /^FROM (\S+@sha256:[0-9a-f]{64}) AS node$/m;
/** In a folder that both the context and the image have. */
export const sbomInImage = "deploy/image/sbom.cdx.json";

/** Returns the base image, which must be pinned by its digest: a tag may be another image tomorrow. */
export function baseOf(dockerfile) {
  const [, base] = pinned.exec(dockerfile) ?? [];
  if (base === undefined)
    throw new Error(
      "deploy/Dockerfile: the base image is not pinned by a digest (FROM …@sha256:…)",
    );
  return base;
}

/** Returns the Dockerfile with labels at its end, where they belong to the last stage. */
export function withLabels(dockerfile, { version, at, revision, homepage, base }) {
  const [name, digest] = base.split("@");
  const labels = {
    version,
    created: at,
    revision,
    source: homepage,
    documentation: `${homepage}/tree/v${version}/docs`,
    "base.name": `docker.io/library/${name}`,
    "base.digest": digest,
  };
  const lines = Object.entries(labels).map(
    ([label, value]) => `    org.opencontainers.image.${label}=${JSON.stringify(value)}`,
  );
  return `${dockerfile.trimEnd()}\nLABEL \\\n${lines.join(" \\\n")}\n`;
}
