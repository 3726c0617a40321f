/** Addresses signed by AWS Signature Version 4, in their query. */
import { createHash, createHmac } from "node:crypto";

export type AwsKeys = {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
};

export type ToSign = {
  readonly host: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly service: string;
  readonly region: string;
  readonly seconds: number;
  readonly bodyHash?: string;
};

const algorithm = "AWS4-HMAC-SHA256";

export function signedUrl(keys: AwsKeys, toSign: ToSign, now: number): string {
  const { host, path, service, region, seconds, bodyHash = sha256("") } = toSign;
  const at = new Date(now).toISOString().replace(/[-:]|\.\d{3}/g, "");
  const day = at.slice(0, dayLength);
  const scope = [day, region, service, "aws4_request"];
  const query = queryOf({
    ...toSign.query,
    "X-Amz-Algorithm": algorithm,
    "X-Amz-Credential": [keys.accessKeyId, ...scope].join("/"),
    "X-Amz-Date": at,
    "X-Amz-Expires": String(seconds),
    ...(keys.sessionToken !== undefined && { "X-Amz-Security-Token": keys.sessionToken }),
    "X-Amz-SignedHeaders": "host",
  });
  const request = ["GET", path, query, `host:${host}`, "", "host", bodyHash].join("\n");
  const text = [algorithm, at, scope.join("/"), sha256(request)].join("\n");
  const key = scope.reduce<Buffer | string>(hmac, `AWS4${keys.secretAccessKey}`);
  return `https://${host}${path}?${query}&X-Amz-Signature=${hmac(key, text).toString("hex")}`;
}

const dayLength = "20000101".length;

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
const hmac = (key: Buffer | string, text: string): Buffer =>
  createHmac("sha256", key).update(text).digest();

/** Sorts parameters by name, as the signature requires. */
const queryOf = (query: Readonly<Record<string, string>>): string =>
  Object.entries(query)
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .toSorted()
    .join("&");

/** Encodes as RFC 3986 does: five characters more than `encodeURIComponent`. */
const encoded = (text: string): string =>
  encodeURIComponent(text).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
