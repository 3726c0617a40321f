/** The operator's console, served by management: tenants and their tokens. */
import { Redirect, Route, Router, Switch } from "wouter";
import { usePath } from "./address.ts";
import { call } from "./api/call.ts";
import { Building2, ScrollText } from "lucide-react";
import { Frame, type MenuGroup } from "./parts/frame.tsx";
import { type Admission, Gate } from "./parts/gate.tsx";
import { WholeAudit } from "./pages/audit.tsx";
import { NoSuchPage } from "./pages/no-such-page.tsx";
import { TenantPage } from "./pages/operator/tenant.tsx";
import { Tenants } from "./pages/operator/tenants.tsx";
import { show } from "./show.tsx";

const admission: Admission = {
  fields: [
    { label: "User", isSecret: false, autoComplete: "username" },
    { label: "Password", isSecret: true, autoComplete: "current-password" },
  ],
  authorizationOf: ([user = "", password = ""]) => `Basic ${base64(`${user}:${password}`)}`,
  admit: async (session, role) => {
    await call(session, { id: "listTenants" });
    return { name: `Operator: ${role}`, mayWrite: role === "admin", mayAct: role !== "viewer" };
  },
};

const base64 = (text: string): string =>
  btoa(String.fromCharCode(...new TextEncoder().encode(text)));

const menu: readonly MenuGroup[] = [
  {
    items: [
      { to: "/tenants", title: "Tenants", icon: Building2 },
      { to: "/audit", title: "Audit log", icon: ScrollText },
    ],
  },
];

function Pages() {
  const [path] = usePath();
  return (
    <Switch key={path}>
      <Route path="/">
        <Redirect to="/tenants" />
      </Route>
      <Route path="/audit" component={WholeAudit} />
      <Route path="/tenants" component={Tenants} />
      <Route path="/tenants/:id" component={TenantPage} />
      <Route component={NoSuchPage} />
    </Switch>
  );
}

show(
  <Gate admission={admission}>
    <Router hook={usePath}>
      <Frame groups={menu}>
        <Pages />
      </Frame>
    </Router>
  </Gate>,
);
