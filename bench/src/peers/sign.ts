import { createHmac, createSecretKey, hash } from "node:crypto";
import { type Publish } from "./accept.ts";

const key = createSecretKey(Buffer.from("sig_0123456789abcdefghijklmnopqr"));
const header = Buffer.from('{"alg":"HS256","typ":"JWT"}').toString("base64url");

export function signature({ id, delivery }: Publish, now: number): string {
  const at = Math.floor(now / 1_000);
  const body = hash("sha256", delivery.body, "base64url");
  const claims = {
    iss: "least",
    sub: delivery.url,
    exp: at + 300,
    nbf: at,
    iat: at,
    jti: id,
    body,
  };
  const signed = `${header}.${Buffer.from(JSON.stringify(claims)).toString("base64url")}`;
  return `${signed}.${createHmac("sha256", key).update(signed).digest("base64url")}`;
}
