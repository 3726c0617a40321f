/** FerretDB, built from its Go module; Go compares every source with the committed go.sum. */
import { join } from "node:path";
import { cached } from "../cache.ts";
import { ferretdbRecipe } from "../folders.ts";
import { needTools, runWithPatience } from "../process/run.ts";
import { fingerprint } from "./maven.ts";
import { fetchPostgresql, type PostgresqlBinaries } from "./postgresql.ts";

export type FerretdbBinaries = {
  readonly name: string;
  readonly file: string;
  readonly postgresql: PostgresqlBinaries;
};

const version = "2.7.0";
const command = "github.com/FerretDB/FerretDB/v2/cmd/ferretdb";

export async function fetchFerretdb(): Promise<FerretdbBinaries> {
  needTools("go");
  // First what fails soonest on a host that is not Debian's.
  const postgresql = await fetchPostgresql();
  const print = fingerprint(join(ferretdbRecipe, "go.mod"), join(ferretdbRecipe, "go.sum"));
  const folder = await cached(`ferretdb-${version}-${print}`, async (making) => {
    const env = { ...process.env, GOFLAGS: "-mod=readonly -buildvcs=false", CGO_ENABLED: "0" };
    const args = ["build", "-trimpath", "-o", join(making, "ferretdb"), command];
    await runWithPatience("go", args, { cwd: ferretdbRecipe, env });
  });
  const name = `FerretDB ${version} over ${postgresql.name}`;
  return { name, file: join(folder, "ferretdb"), postgresql };
}
