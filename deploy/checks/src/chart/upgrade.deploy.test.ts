import { beforeAll, expect, it } from "@jest/globals";
import { buildMsMax, describeWith } from "../tools/describe-with.ts";
import { buildHelm } from "../tools/helm.ts";
import { identitiesOf } from "./identity.ts";
import { renderFile } from "./manifests.ts";
import { releasedFile, releasedIdentities, releasedSets } from "./released.ts";

describeWith(["go"], "an upgrade from the last release's values", () => {
  beforeAll(buildHelm, buildMsMax);

  it.each(releasedSets)(
    "of %s keeps every object's name, selector and claims",
    async (valueSet) => {
      const identities = identitiesOf(await renderFile(releasedFile(valueSet)));

      expect(identities).toEqual(expect.arrayContaining(releasedIdentities(valueSet)));
    },
    buildMsMax,
  );
});
