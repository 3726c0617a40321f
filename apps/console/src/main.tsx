/** The console: pages over the API of the server that it came from. */
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createRoot } from "react-dom/client";
import { Route, Router, Switch } from "wouter";
import { textOf } from "./api.ts";
import { usePath } from "./address.ts";
import { DeadLetters } from "./dead-letters.tsx";
import { FlowKeys, Queues, Schedules } from "./lines.tsx";
import { Message, Messages } from "./messages.tsx";
import { Run, Runs } from "./runs.tsx";
import { SignedIn } from "./session.tsx";

const pages = [
  ["/messages", "Messages"],
  ["/dead-letters", "Dead letters"],
  ["/runs", "Runs"],
  ["/schedules", "Schedules"],
  ["/queues", "Queues"],
  ["/flow-keys", "Flow keys"],
] as const;

function Menu() {
  const [path, go] = usePath();
  return (
    <header>
      <strong>Posthaste</strong>
      <nav aria-label="Pages">
        {pages.map(([to, title]) => (
          <a key={to} href={`#${to}`} aria-current={path.startsWith(to) ? "page" : undefined}>
            {title}
          </a>
        ))}
      </nav>
      <form
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          const id = textOf(new FormData(event.currentTarget).get("id")).trim();
          if (id !== "")
            go(`/${id.startsWith("wfr_") ? "runs" : "messages"}/${encodeURIComponent(id)}`);
        }}
      >
        <label>
          Id of a message or run
          <input name="id" />
        </label>
        <button type="submit">Go</button>
      </form>
    </header>
  );
}

function Pages() {
  return (
    <main>
      <Switch>
        <Route path="/messages" component={Messages} />
        <Route path="/messages/:id">{({ id }) => <Message key={id} id={id} />}</Route>
        <Route path="/dead-letters" component={DeadLetters} />
        <Route path="/runs" component={Runs} />
        <Route path="/runs/:id">{({ id }) => <Run key={id} id={id} />}</Route>
        <Route path="/schedules" component={Schedules} />
        <Route path="/queues" component={Queues} />
        <Route path="/flow-keys" component={FlowKeys} />
        <Route>
          <h1>There is no such page</h1>
        </Route>
      </Switch>
    </main>
  );
}

const place = document.getElementById("console");
if (place)
  createRoot(place).render(
    <QueryClientProvider client={new QueryClient()}>
      <SignedIn>
        <Router hook={usePath}>
          <Menu />
          <Pages />
        </Router>
      </SignedIn>
    </QueryClientProvider>,
  );
