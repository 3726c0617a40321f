import { dirname } from "node:path";

export const root = dirname(dirname(dirname(import.meta.dirname)));
