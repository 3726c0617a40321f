/** The tenant's console: pages over the API of its own server. Each page is loaded when first visited. */
import {
  CalendarClock,
  Gauge,
  Inbox,
  Layers,
  ListOrdered,
  MailWarning,
  ScrollText,
  Send,
  Split,
  Waypoints,
  Workflow,
} from "lucide-react";
import { type ComponentType, lazy, Suspense } from "react";
import { Route, Router, Switch } from "wouter";
import { usePath } from "./address.ts";
import { call } from "./api/call.ts";
import { useLive } from "./api/live.ts";
import { useSession } from "./api/session.ts";
import { type Admission, Gate } from "./parts/gate.tsx";
import { Frame, type MenuGroup } from "./parts/frame.tsx";
import { Palette } from "./parts/palette.tsx";
import { NoSuchPage } from "./pages/no-such-page.tsx";
import { show } from "./show.tsx";

const admission: Admission = {
  fields: [{ label: "Token", isSecret: true, autoComplete: "off" }],
  authorizationOf: ([token = ""]) => `Bearer ${token}`,
  admit: async (session) => {
    const { tenant, scope, plan } = await call(session, { id: "readMe" });
    return { name: `Tenant ${tenant}`, ...mayOf(scope), plan };
  },
};

const mayOf = (scope: string) => ({
  mayWrite: scope === "full",
  mayAct: scope === "full" || scope === "operate",
});

const menu: readonly MenuGroup[] = [
  { items: [{ to: "/", title: "Overview", icon: Gauge }] },
  {
    title: "Messages",
    items: [
      { to: "/messages", title: "Messages", icon: Inbox },
      { to: "/dead-letters", title: "Dead letters", icon: MailWarning },
      { to: "/schedules", title: "Schedules", icon: CalendarClock },
      { to: "/queues", title: "Queues", icon: ListOrdered },
      { to: "/groups", title: "Groups", icon: Split },
      { to: "/flow-keys", title: "Flow keys", icon: Layers },
    ],
  },
  { title: "Workflows", items: [{ to: "/runs", title: "Runs", icon: Workflow }] },
  {
    title: "Tenant",
    items: [
      { to: "/limits", title: "Limits", icon: Waypoints },
      { to: "/audit", title: "Audit log", icon: ScrollText },
    ],
  },
];

const titles = menu.flatMap(({ items }) =>
  items.map(({ to, title }) => ({ what: "Page", title, to })),
);

type Module<Name extends string> = Readonly<Record<Name, ComponentType>>;
const page = <Name extends string>(load: () => Promise<Module<Name>>, name: Name) =>
  lazy(async () => ({ default: (await load())[name] }));

const pages = {
  "/": page(() => import("./pages/overview.tsx"), "Overview"),
  "/messages": page(() => import("./pages/messages.tsx"), "Messages"),
  "/messages/:id": page(() => import("./pages/message.tsx"), "MessagePage"),
  "/dead-letters": page(() => import("./pages/dead-letters.tsx"), "DeadLetters"),
  "/dead-letters/:id": page(() => import("./pages/dead-letter.tsx"), "DeadLetterPage"),
  "/runs": page(() => import("./pages/runs.tsx"), "Runs"),
  "/runs/:id": page(() => import("./pages/run/run.tsx"), "RunPage"),
  "/schedules": page(() => import("./pages/schedules.tsx"), "Schedules"),
  "/schedules/:id": page(() => import("./pages/schedule.tsx"), "SchedulePage"),
  "/schedule": page(() => import("./pages/publish.tsx"), "ScheduleForm"),
  "/publish": page(() => import("./pages/publish.tsx"), "PublishForm"),
  "/queues": page(() => import("./pages/queues.tsx"), "Queues"),
  "/queues/:name": page(() => import("./pages/queue.tsx"), "QueuePage"),
  "/groups": page(() => import("./pages/groups.tsx"), "Groups"),
  "/groups/:name": page(() => import("./pages/group.tsx"), "GroupPage"),
  "/flow-keys": page(() => import("./pages/flow-keys.tsx"), "FlowKeys"),
  "/audit": page(() => import("./pages/audit.tsx"), "Audit"),
  "/limits": page(() => import("./pages/limits.tsx"), "Limits"),
  "/bulk-actions/:id": page(() => import("./pages/bulk-action.tsx"), "BulkActionPage"),
} as const;

function Pages() {
  useLive();
  const [path] = usePath();
  // Another path is another page, even with the same component.
  return (
    <Suspense fallback={<Coming />}>
      <Switch key={path}>
        {Object.entries(pages).map(([at, component]) => (
          <Route key={at} path={at} component={component} />
        ))}
        <Route component={NoSuchPage} />
      </Switch>
    </Suspense>
  );
}

const Coming = () => (
  <div aria-busy="true" className="stack">
    <span className="skeleton" />
    <span className="skeleton" />
  </div>
);

function Top() {
  const { mayWrite } = useSession();
  return (
    <>
      <Palette pages={titles} />
      <span className="grow" />
      {mayWrite && (
        <a className="button primary" href="#/publish" aria-label="Publish">
          <Send className="icon" aria-hidden />
          <span>Publish</span>
        </a>
      )}
    </>
  );
}

show(
  <Gate admission={admission}>
    <Router hook={usePath}>
      <Frame groups={menu} top={<Top />}>
        <Pages />
      </Frame>
    </Router>
  </Gate>,
);
