/** What there is to see at a glance. */
import { useAsked } from "../api/asked.ts";
import { Page } from "../parts/page.tsx";
import { Trouble } from "../parts/trouble.tsx";

export function Overview() {
  const { data, error } = useAsked({ id: "readGlobalParallelism" }, { fresh: "often" });
  return (
    <Page title="Overview">
      <Trouble error={error} isStale={data !== undefined} />
    </Page>
  );
}
