import { fileURLToPath } from "node:url";

const recipe = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url));

export const kafkaRecipe = recipe("kafka");
export const mongodRecipe = recipe("mongod");
export const repository = recipe("../..");
