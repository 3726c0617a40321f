import { useLastPart } from "../../address.ts";
import { useAsked } from "../../api/asked.ts";
import { Action } from "../../parts/action.tsx";
import { Page } from "../../parts/page.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { Plan } from "./plan.tsx";
import { Tokens } from "./tokens.tsx";

export function TenantPage() {
  const id = useLastPart();
  const { data, error } = useAsked({ id: "readTenant", params: [id] }, { fresh: "once" });
  return (
    <Page
      title="Tenant"
      id={id}
      actions={
        data && (
          <>
            <Action
              does="Rotate signing keys"
              to={`of ${id}`}
              asked={{ id: "rotateTenantKeys", params: [id] }}
              isFinal
            />
            <Action
              does="Close tenant"
              to={id}
              asked={{ id: "closeTenant", params: [id] }}
              isFinal
              leaveTo={() => "/tenants"}
            />
          </>
        )
      }
    >
      <Trouble error={error} />
      {data && (
        <>
          <Tokens tenant={id} />
          <Plan key={JSON.stringify(data.plan)} tenant={data} />
        </>
      )}
    </Page>
  );
}
