/** Planted bugs of runs. */
import {
  awaitedEvents,
  isActive,
  isIn,
  newOrder,
  namesPart,
  type Run,
  type RunIn,
  runId,
} from "@posthaste/domain";
import { type Decision, type RunStore, type RunWrite } from "@posthaste/ports";
import { type Mutation, type NodePorts, withPort } from "../mutate.ts";

/** Replaces the content of each change. */
const writing =
  (replaced: (write: RunWrite, before: Run, ports: NodePorts) => RunWrite | undefined) =>
  (ports: NodePorts): NodePorts =>
    withPort(ports, "runs", {
      change: (address, decide) =>
        ports.runs.change(address, (run) => {
          const { verdict, write } = decide(run);
          const other = write && replaced(write, run, ports);
          return { verdict, ...(other && { write: other }) };
        }),
    });

/** Forgets the deliveries of some parts. */
const forgetting = (isForgotten: (part: string) => boolean) =>
  writing((write) => ({
    ...write,
    deliveries: write.deliveries.filter(({ message }) => !isForgotten(message.run?.part ?? "")),
  }));

type Active = RunIn<"active">["state"];

/** Replaces parts of the state in which a change leaves an active run. */
const leaving = (replaced: (state: Active, before: Run) => Partial<Active>) =>
  writing((write, before) => {
    const { run } = write;
    if (!isActive(run)) return write;
    return { ...write, run: inState(run, { ...run.state, ...replaced(run.state, before) }) };
  });

/** Briefs some deliveries with the whole history, whatever the store says of them. */
const briefing =
  (isConcerned: (said: Briefing, run: Run) => boolean) =>
  (ports: NodePorts): NodePorts =>
    withPort(ports, "runs", {
      brief: async (deliveries) => {
        const briefings = await ports.runs.brief(deliveries);
        return Promise.all(
          briefings.map(async (said, i) => {
            const of = deliveries[i];
            const run = of && (await ports.runs.get(of.run));
            if (!run || !isConcerned(said, run)) return said;
            const entries = await ports.runs.history(run, 0);
            return { rank: entries.length - 1, entries: entries.slice(of.from) };
          }),
        );
      },
    });

const inState = <S extends Run["state"]>(run: Run, state: S): Run => ({ ...run, state });

const invokes = ({ state }: RunIn<"active">) =>
  state.pending.filter(({ kind }) => kind === "invoke");

const singly = ({ from, role, to }: Run["history"]["spans"][number]) =>
  Array.from({ length: to - from + 1 }, (_, i) => ({ role, from: from + i, to: from + i }));

/** Replaces the content of a start. */
const starting =
  (replaced: (write: RunWrite) => RunWrite) =>
  (ports: NodePorts): NodePorts =>
    withPort(ports, "runs", {
      start: (tenant, id, intake, make) =>
        ports.runs.start(tenant, id, intake, (use) => replaced(make(use))),
      resume: (tenant, id, inherited, make) =>
        ports.runs.resume(tenant, id, inherited, (use) => replaced(make(use))),
    });

const textOf = (body: Uint8Array): string => new TextDecoder().decode(body);

const withoutRetries = (body: Uint8Array): Uint8Array =>
  new TextEncoder().encode(
    textOf(body).replace(/"retried":[0-9]+,"maxRetries":[0-9]+/, '"retried":0,"maxRetries":1'),
  );

type Briefing = Awaited<ReturnType<RunStore["brief"]>>[number];

let otherIds = 0;

const planted: readonly Mutation[] = [
  {
    name: "a change of a run acknowledged before it is written",
    change: (ports) => {
      const change: RunStore["change"] = async (address, decide) => {
        const seen = await ports.runs.get(address);
        void ports.runs.change(address, decide).catch(() => undefined);
        return seen && decide(seen).verdict;
      };
      return withPort(ports, "runs", { change });
    },
  },
  {
    name: "a run under an id that has an active one",
    change: (ports) =>
      withPort(ports, "runs", {
        start: (tenant, _id, intake, make) => {
          otherIds += 1;
          return ports.runs.start(tenant, runId(`other-${otherIds}`), intake, make);
        },
      }),
  },
  {
    name: "a wait whose time is up by a head that a process has kept",
    change: (ports) => {
      const kept = new Map<string, Run>();
      const timesOut = (write: RunWrite | undefined): boolean =>
        write?.parts.some(({ body }) => textOf(body).includes('"waitTimeout":true')) ?? false;
      const change: RunStore["change"] = async (address, decide) => {
        const before = await ports.runs.get(address);
        const seen = before && (kept.get(before.key) ?? before);
        if (seen) kept.set(seen.key, seen);
        return ports.runs.change(address, (run) => {
          const asSeen = seen && decide(seen);
          if (asSeen && timesOut(asSeen.write)) return asSeen;
          const decision = decide(run);
          const { write } = decision;
          if (write && awaitedEvents(write.run).length > 0) kept.set(write.run.key, write.run);
          return decision;
        });
      };
      return withPort(ports, "runs", { change });
    },
  },
  {
    name: "a delivery that carries all of the history",
    change: briefing((said) => typeof said !== "string"),
  },
  {
    name: "a history in the order of its names",
    change: (ports) =>
      withPort(ports, "runs", {
        brief: async (deliveries) =>
          (await ports.runs.brief(deliveries)).map((briefing) =>
            typeof briefing === "string"
              ? briefing
              : {
                  ...briefing,
                  entries: briefing.entries.toSorted((a, b) =>
                    a.messageId < b.messageId ? -1 : 1,
                  ),
                },
          ),
      }),
  },
  {
    name: "an answer of a call that looks as if another came",
    change: writing((write) => ({
      ...write,
      parts: write.parts.map((part) =>
        part.name.startsWith("a") ? { ...part, body: withoutRetries(part.body) } : part,
      ),
    })),
  },
  {
    name: "a history that grows with each step",
    change: writing((write) => {
      const { history } = write.run;
      const spans = history.spans.flatMap((span) =>
        span.role === "result" ? singly(span) : [span],
      );
      return { ...write, run: { ...write.run, history: { ...history, spans } } };
    }),
  },
  {
    name: "a result whose delivery is forgotten",
    change: forgetting((part) => part === "s2"),
  },
  {
    name: "an answer of a call that is not delivered",
    change: forgetting((part) => part.startsWith("a")),
  },
  {
    name: "a failure that its function is not told",
    change: forgetting((part) => part === "f"),
  },
  {
    name: "alarms of runs that ring for nothing",
    change: (ports) =>
      withPort(ports, "alarms", {
        ring: async (...given) => {
          const { more, rung } = await ports.alarms.ring(...given);
          return { more, rung: rung.filter(({ kind }) => kind !== "run") };
        },
      }),
  },
  {
    name: "a wait that stays when it has ended",
    change: leaving(({ pending }, before) => {
      if (!isActive(before)) return {};
      const gone = before.state.pending.filter(
        (each) => each.kind === "wait" && !pending.some(({ step }) => step === each.step),
      );
      const later = gone.map((each) => ({ ...each, deadline: Number.MAX_SAFE_INTEGER }));
      return { pending: [...pending, ...later] };
    }),
  },
  {
    name: "a wait whose time is up at once",
    change: leaving(({ pending }) => ({
      pending: pending.map((each) =>
        each.kind === "wait" ? { ...each, deadline: each.deadline - 1_900 } : each,
      ),
    })),
  },
  {
    name: "a note that is read and stays",
    change: leaving(({ notes }, before) => {
      const read = isActive(before) ? before.state.notes : [];
      const come = notes.filter(({ part }) => !read.some((note) => note.part === part));
      return { notes: [...read, ...come] };
    }),
  },
  {
    name: "a note that is lost when another comes",
    change: leaving(({ notes }) => ({ notes: notes.slice(-1) })),
  },
  {
    name: "an invocation that is repeated with another child",
    change: (ports) =>
      withPort(ports, "runs", {
        change: <V>(...[address, decide]: Parameters<RunStore["change"]>) =>
          ports.runs.change(address, (run) => {
            if (!isActive(run)) return decide(run) as Decision<V>;
            const pending = run.state.pending.filter(({ kind }) => kind !== "invoke");
            const fresh = { ...run, state: { ...run.state, pending } };
            const { verdict, write } = decide(fresh) as Decision<V>;
            const made = write && isActive(write.run) ? invokes(write.run) : [];
            if (!write || !isActive(write.run) || made.length === 0)
              return decide(run) as Decision<V>;
            const others = invokes(run).filter(({ step }) =>
              made.every((each) => each.step !== step),
            );
            const all = [...others, ...write.run.state.pending];
            const next = inState(write.run, { ...write.run.state, pending: all });
            // The store refuses an existing part, so the part of the first child serves this one, too.
            const parts = write.parts.filter(({ name }) => !namesPart(run, name));
            return { verdict, write: { ...write, run: next, parts } };
          }),
      }),
  },
  {
    name: "an invocation without the alarm of its start",
    change: leaving(({ pending }) => ({
      pending: pending.map((each) => {
        if (each.kind !== "invoke") return each;
        const { startBy: _, ...rest } = each;
        return rest;
      }),
    })),
  },
  {
    name: "an end without the alarm for its invoker",
    change: writing((write) => {
      const { run } = write;
      if (run.state.kind === "active") return write;
      const { answerBy: _, ...state } = run.state;
      return { ...write, run: inState(run, state) };
    }),
  },
  {
    name: "the end of a run that is not in the log of one that has ended",
    change: writing((write, before) =>
      !isActive(before) && write.parts.some(({ name }) => name.startsWith("s")) ? undefined : write,
    ),
  },
  {
    name: "a run that forgets what it redacts",
    change: starting((write) => {
      const { plan } = write.run;
      const { redaction: _, ...policy } = plan.policy;
      return { ...write, run: { ...write.run, plan: { ...plan, policy } } };
    }),
  },
  {
    name: "what a delivery says of its run forgotten",
    change: (ports) =>
      withPort(ports, "records", {
        settle: (settlements) =>
          ports.records.settle(
            settlements.map((each) => ({
              ...each,
              append: each.append.filter(({ kind }) => kind !== "run"),
            })),
          ),
      }),
  },
  {
    name: "a run whose store fails taken for one that has ended",
    change: (ports) => {
      const change: RunStore["change"] = (...given) =>
        ports.runs.change(...given).catch(() => undefined);
      return withPort(ports, "runs", { change });
    },
  },
  {
    name: "a run that is resumed without its history",
    change: (ports) =>
      withPort(ports, "runs", {
        resume: (tenant, id, inherited, make) =>
          ports.runs.resume(tenant, id, inherited, (use) => {
            const write = make(use);
            return { ...write, run: { ...write.run, history: newOrder, reached: 0 } };
          }),
      }),
  },
  {
    name: "a run that is resumed without what was open",
    change: (ports) =>
      withPort(ports, "runs", {
        resume: (tenant, id, inherited, make) =>
          ports.runs.resume(tenant, id, inherited, (use) => ({ ...make(use), deliveries: [] })),
      }),
  },
  {
    name: "a failed run that is no dead letter",
    change: writing((write) => {
      const { run } = write;
      if (run.state.kind !== "failed") return write;
      const failure = { ...run.state.failure, inDlq: false };
      return { ...write, run: inState(run, { ...run.state, failure }) };
    }),
  },
  {
    name: "a cancel of a run said and not done",
    change: writing((write) => (write.run.state.kind === "canceled" ? undefined : write)),
  },
  {
    name: "a run that is delivered after its end",
    change: briefing((said, run) => !isActive(run) && said === "unwanted"),
  },
  {
    name: "a late failure of what a run has passed",
    change: (ports) =>
      withPort(ports, "runs", {
        change: <V>(...[address, decide]: Parameters<RunStore["change"]>) =>
          ports.runs.change(address, (run) => {
            if (!isActive(run)) return decide(run) as Decision<V>;
            const { state, reached } = run;
            const fresh: RunIn<"active"> = { ...run, reached: 0, state: { ...state, pending: [] } };
            const { verdict, write } = decide(fresh) as Decision<V>;
            if (write?.run.state.kind !== "failed") return decide(run) as Decision<V>;
            return { verdict, write: { ...write, run: { ...write.run, reached } } };
          }),
      }),
  },
  {
    name: "asked again for what is answered",
    change: (ports) =>
      withPort(ports, "runs", {
        brief: (deliveries) => ports.runs.brief(deliveries.map((each) => ({ ...each, epoch: 1 }))),
      }),
  },
  {
    name: "a page that is taken for the answer of a workflow",
    change: starting(({ run: { marks: _, ...run }, ...write }) => ({ ...write, run })),
  },
  {
    name: "a mark that is asked of an endpoint that has none",
    change: writing((write) => {
      const { marks, ...run } = write.run;
      return { ...write, run: { ...run, ...(marks && { marks: "expected" }) } };
    }),
  },
  {
    name: "a sleep that is forgotten",
    change: writing((write, _run, { clock }) => ({
      ...write,
      deliveries: write.deliveries.map((record) =>
        isIn(record, "held")
          ? { ...record, state: { kind: "due", hints: 0 }, wakeAt: clock.now() }
          : record,
      ),
    })),
  },
];

export const runMutations: readonly Mutation[] = planted.map((mutation) => ({
  ...mutation,
  shownBy: "runs",
}));
