/** Tests signing keys rotated by the tenant (docs/design/wire#signing-keys). */
import { createHmac } from "node:crypto";
import { describe, expect, it } from "@jest/globals";
import { eventually, equals } from "./client.ts";
import { textOf } from "./json.ts";
import { readOnlyToken } from "./users.ts";
import { client, destination, startBeforeTests } from "./suite.ts";

startBeforeTests({ readOnlyToken });

let sent = 0;
const keys = async (by = client) => (await by.get("/v2/keys")).object();

function isSignedWith(token: string, key: unknown): boolean {
  const [header = "", claims = "", signature = ""] = token.split(".");
  const made = createHmac("sha256", textOf(key)).update(`${header}.${claims}`).digest("base64url");
  return made === signature;
}

describe.each(["/v2/keys/rotate", "/v2/rotate"])("POST %s", (path) => {
  it("200 makes the next key the current one and adds a new next key, and GET shows both at once", async () => {
    const before = await keys();

    const reply = await client.post(path);

    expect(reply.status).toBe(200);
    const { current, next } = reply.object();
    expect(current).toBe(before["next"]);
    expect([before["current"], before["next"]]).not.toContain(next);
    expect(textOf(next)).toMatch(/^sig_\w{28}$/);
    expect(await keys()).toEqual({ current, next });
  });

  it("signs deliveries with a key that receivers already hold, and soon with no other", async () => {
    const before = await keys();
    const signer = async (): Promise<readonly boolean[]> => {
      const target = `${path}/${++sent}`;
      await client.published(destination.url(target));
      const { headers } = await destination.arrival(target);
      const token = textOf(headers["service-signature"]);
      return [before["current"], before["next"]].map((key) => isSignedWith(token, key));
    };
    // The deliverer has seen the earlier rotations.
    await eventually(signer, ([byCurrent]) => byCurrent === true);

    await client.post(path);

    const byNext = async () => {
      const signedWith = await signer();
      expect(signedWith).toContain(true);
      return signedWith[1];
    };
    await eventually(byNext, equals(true));
  });
});
