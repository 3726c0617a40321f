/** The signing keys of a tenant: receivers verify with either (docs/design/wire#signing-keys). */
import * as z from "zod";
import { type JsonOf } from "../representations/schemas.ts";
import { endpoint } from "./endpoint.ts";

export const keysSchema = z
  .object({ current: z.string(), next: z.string() })
  .meta({ id: "SigningKeys" });

const rotation = {
  method: "post",
  kind: "write",
  summary: "Rotate the keys: next becomes current, and there is a new next",
  answers: { 200: { says: "Both keys after the rotation", schema: keysSchema } },
  faults: ["forbidden"],
} as const;

export const signingKeys = {
  readKeys: endpoint({
    method: "get",
    path: "/v2/keys",
    kind: "secret",
    summary: "Read the keys that sign deliveries",
    answers: { 200: { says: "Both keys", schema: keysSchema } },
    faults: ["forbidden"],
  }),
  rotateKeys: endpoint({ path: "/v2/keys/rotate", ...rotation }),
  rotateKeysByItsOlderPath: endpoint({ path: "/v2/rotate", ...rotation }),
};

type KeysJson = JsonOf<typeof keysSchema>;

export const keysJson = ({ current, next }: KeysJson): KeysJson => ({ current, next });
