import { type JsonOf, type keysSchema } from "./schemas.ts";

export type KeysJson = JsonOf<typeof keysSchema>;

/** The signing keys of a tenant: receivers verify with either (protocol/qstash.md §1.10). */
export const keysJson = ({ current, next }: KeysJson): KeysJson => ({ current, next });
