// Makes the missing secrets for a first start: node deploy/image/make-secrets.js FOLDER=name,name …
//
// Writes a file for each name, readable by its owner only, and keeps existing files.
import { secretInFile, systemRandom } from "../../libs/process/src/index.ts";

const random = systemRandom();
const ownerReads = 0o400;

for (const [folder, names] of process.argv.slice(2).map((argument) => argument.split("="))) {
  for (const name of names.split(",")) {
    const { path, isNew } = secretInFile(folder, name, random, ownerReads);
    if (isNew) console.log(`${path} made`);
  }
}
