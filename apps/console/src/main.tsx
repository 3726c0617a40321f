/** The console of a tenant: pages over the API of the server that it came from. */
import { Route, Router, Switch } from "wouter";
import { usePath } from "./address.ts";
import { call } from "./api/call.ts";
import { useLive } from "./api/live.ts";
import { type Door, Gate } from "./parts/gate.tsx";
import { Frame, type MenuItem } from "./parts/frame.tsx";
import { IdBox } from "./parts/id-box.tsx";
import { BulkActionPage } from "./pages/bulk-action.tsx";
import { DeadLetterPage } from "./pages/dead-letter.tsx";
import { DeadLetters } from "./pages/dead-letters.tsx";
import { FlowKeys } from "./pages/flow-keys.tsx";
import { GroupPage } from "./pages/group.tsx";
import { Groups } from "./pages/groups.tsx";
import { MessagePage } from "./pages/message.tsx";
import { Messages } from "./pages/messages.tsx";
import { NoSuchPage } from "./pages/no-such-page.tsx";
import { Overview } from "./pages/overview.tsx";
import { Queues } from "./pages/queues.tsx";
import { RunPage } from "./pages/run/run.tsx";
import { Runs } from "./pages/runs.tsx";
import { SchedulePage } from "./pages/schedule.tsx";
import { Schedules } from "./pages/schedules.tsx";
import { show } from "./show.tsx";

const door: Door = {
  fields: [{ label: "Token", isSecret: true, autoComplete: "off" }],
  authorizationOf: ([token = ""]) => `Bearer ${token}`,
  check: async (authorization) => {
    const { tenant, scope } = await call(authorization, { id: "readMe" });
    return { name: `Tenant ${tenant}`, mayWrite: scope === "full" };
  },
  storageKey: "posthaste-session",
};

const menu: readonly MenuItem[] = [
  ["/", "Overview"],
  ["/messages", "Messages"],
  ["/dead-letters", "Dead letters"],
  ["/runs", "Runs"],
  ["/schedules", "Schedules"],
  ["/queues", "Queues"],
  ["/groups", "Groups"],
  ["/flow-keys", "Flow keys"],
];

function Pages() {
  useLive();
  const [path] = usePath();
  // Another path is another page, also where one page shows both.
  return (
    <Switch key={path}>
      <Route path="/" component={Overview} />
      <Route path="/messages" component={Messages} />
      <Route path="/messages/:id" component={MessagePage} />
      <Route path="/dead-letters" component={DeadLetters} />
      <Route path="/dead-letters/:id" component={DeadLetterPage} />
      <Route path="/runs" component={Runs} />
      <Route path="/runs/:id" component={RunPage} />
      <Route path="/schedules" component={Schedules} />
      <Route path="/schedules/:id" component={SchedulePage} />
      <Route path="/queues" component={Queues} />
      <Route path="/groups" component={Groups} />
      <Route path="/groups/:name" component={GroupPage} />
      <Route path="/flow-keys" component={FlowKeys} />
      <Route path="/bulk-actions/:id" component={BulkActionPage} />
      <Route component={NoSuchPage} />
    </Switch>
  );
}

show(
  <Gate door={door}>
    <Router hook={usePath}>
      <Frame items={menu} top={<IdBox />}>
        <Pages />
      </Frame>
    </Router>
  </Gate>,
);
