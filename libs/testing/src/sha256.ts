import { createHash } from "node:crypto";
import { type Sha256Hex } from "@posthaste/domain";

export const sha256: Sha256Hex = (value) => createHash("sha256").update(value).digest("hex");
