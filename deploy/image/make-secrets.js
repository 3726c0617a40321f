// Makes the secrets that a first start needs and does not find: node deploy/image/make-secrets.js FOLDER=name,name …
//
// One file for each name, for its owner only; what is there stays. Names and forms are those that the configuration
// wants (libs/process/src/config), as POSTHASTE_<NAME>_FILE.
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { newSigningKey, newToken } from "../../libs/http/src/index.ts";
import { systemRandom } from "../../libs/process/src/index.ts";

const random = systemRandom();
const makers = {
  token: () => newToken("default", random),
  "signing-key-current": () => newSigningKey(random),
  "signing-key-next": () => newSigningKey(random),
  "management-password": () => random.text(32),
  "sealing-keys": () => randomBytes(32).toString("base64"),
};

for (const [folder, names] of process.argv.slice(2).map((argument) => argument.split("="))) {
  for (const name of names.split(",")) {
    const file = join(folder, name);
    try {
      writeFileSync(file, makers[name](), { flag: "wx", mode: 0o400 });
      console.log(`${file} made`);
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
    }
  }
}
