import { type BulkAction } from "@posthaste/client/api";
import { useLastPart } from "../address.ts";
import { useAsked } from "../api/asked.ts";
import { shown } from "../api/text.ts";
import { Facts } from "../parts/facts.tsx";
import { Page } from "../parts/page.tsx";
import { State, timeOf } from "../parts/text.tsx";
import { Trouble } from "../parts/trouble.tsx";
import { searchOf } from "../rules/filters.ts";

export function BulkActionPage() {
  const id = useLastPart();
  const { data, error } = useAsked({ id: "readBulkAction", params: [id] }, { fresh: "often" });
  return (
    <Page title="Bulk action" id={id}>
      <Trouble error={error} />
      {data && (
        <>
          <p>
            <progress aria-label="Done" value={data.processed} max={Math.max(data.total, 1)} />{" "}
            {data.processed} of {data.total} cancelled
          </p>
          <Facts
            facts={[
              [
                "State",
                data.state === "FINISHED" ? (
                  <State tone="good">finished</State>
                ) : (
                  <State tone="busy">in progress</State>
                ),
              ],
              ["Started", timeOf(data.createdAt)],
              ["Finished", timeOf(data.completedAt)],
              ["Filter", <OfFilter action={data} />],
              ...Object.entries(data.filter).map(
                ([name, values]) => [shown(name), shown(values.join(", "), 2_000)] as const,
              ),
            ]}
          />
        </>
      )}
    </Page>
  );
}

function OfFilter({ action: { filter, kind } }: { readonly action: BulkAction }) {
  const things = kind === "cancel" ? "messages" : "runs";
  return <a href={`#/${things}?${searchOf(filter).toString()}`}>{things} with this filter</a>;
}
