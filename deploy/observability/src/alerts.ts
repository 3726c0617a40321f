/**
 * The alerts. Each is a number (`of`) and a threshold (`when`), so that a test can ask for the number while all is well. Jobs
 * are called `posthaste-<service>`, as in traces. The responses are in docs/runbook.md.
 */
export type Alert = {
  readonly name: string;
  readonly of: string;
  /** Undefined: any answer to `of` is the alert. */
  readonly when?: string;
  /** The time for which the condition must hold. */
  readonly for: string;
  readonly severity: "critical" | "warning";
  readonly summary: string;
};

export const alerts: readonly Alert[] = [
  {
    name: "PosthasteNoDeliverer",
    of: 'absent(up{job=~"posthaste-(deliverer|standalone)"} == 1)',
    for: "1m",
    severity: "critical",
    summary: "No deliverer answers: messages are accepted and none is delivered.",
  },
  {
    name: "PosthasteProcessDown",
    of: 'up{job=~"posthaste-.+"}',
    when: "== 0",
    for: "5m",
    severity: "warning",
    summary: "{{ $labels.instance }} of {{ $labels.job }} does not answer.",
  },
  {
    name: "PosthastePastDue",
    of: "max(posthaste_oldest_past_due_seconds)",
    when: "> 60",
    for: "2m",
    severity: "critical",
    summary: "Due alarms have not rung for {{ $value | humanizeDuration }}.",
  },
  {
    name: "PosthasteTimersLate",
    of: "histogram_quantile(0.99, sum by (le) (rate(posthaste_timer_lateness_seconds_bucket[5m])))",
    when: "> 5",
    for: "10m",
    severity: "warning",
    summary: "Alarms ring {{ $value | humanizeDuration }} late (p99).",
  },
  {
    name: "PosthasteShardsUnowned",
    of: "64 - count(sum by (shard) (posthaste_shard_owners) > 0)",
    when: "> 0",
    for: "2m",
    severity: "critical",
    summary: "{{ $value }} of 64 shards have no scheduler: their waiting messages are late.",
  },
  {
    name: "PosthasteBacklog",
    of: "posthaste:waiting:max",
    when: "> 50000",
    for: "15m",
    severity: "warning",
    summary: "{{ $value }} messages wait in lanes and queues.",
  },
  {
    name: "PosthasteAttemptsFail",
    of: 'sum(rate(posthaste_attempts_total{outcome!="delivered"}[5m])) / (sum(rate(posthaste_attempts_total[5m])) > 0)',
    when: "> 0.5",
    for: "10m",
    severity: "warning",
    summary: "{{ $value | humanizePercentage }} of all attempts fail.",
  },
  {
    name: "PosthasteCannotCall",
    of: 'sum(rate(posthaste_attempts_total{outcome="infrastructure"}[5m]))',
    when: "> 0",
    for: "5m",
    severity: "critical",
    summary: "Attempts end without a call, for a reason on this side.",
  },
  {
    name: "PosthasteDeadLettersGrow",
    // Counts the messages that failed, not the dead letters kept, which are bounded and removed.
    of: 'sum(increase(posthaste_messages_ended_total{end="failed"}[1h]))',
    when: "> 100",
    for: "5m",
    severity: "warning",
    summary: "{{ $value | humanize }} messages have become dead letters within an hour.",
  },
  {
    name: "PosthasteSsrfBlockedLate",
    of: "sum(increase(posthaste_ssrf_blocked_late_total[15m]))",
    when: "> 0",
    for: "0s",
    severity: "critical",
    summary: "A forbidden address was found only after connecting.",
  },
  {
    name: "PosthasteSlotsLost",
    of: 'sum(increase(posthaste_schedule_slots_total{result=~"failed|skipped"}[15m]))',
    when: "> 0",
    for: "0s",
    severity: "warning",
    summary: "Slots of schedules have failed or were skipped.",
  },
  {
    name: "PosthasteRunsPastDue",
    of: "max(posthaste_run_oldest_past_due_seconds)",
    when: "> 60",
    for: "2m",
    severity: "critical",
    summary: "A run has waited {{ $value | humanizeDuration }} beyond its time.",
  },
  {
    name: "PosthasteRunsStall",
    of: "sum(increase(posthaste_run_stalls_total[15m]))",
    when: "> 0",
    for: "0s",
    severity: "warning",
    summary: "Runs stand still: their endpoint has answered and not continued them.",
  },
  {
    name: "PosthasteRedisAway",
    of: 'sum(rate(posthaste_tokens_total{what=~"failed|refused"}[1m]))',
    when: "> 0",
    for: "1m",
    severity: "warning",
    summary:
      "Redis does not answer: deduplicated publishes are refused, flow-controlled messages wait.",
  },
  {
    name: "PosthasteBusAway",
    of: 'sum(rate(posthaste_bus_total{what="sendFailures"}[5m]))',
    when: "> 0",
    for: "5m",
    severity: "critical",
    summary: "Kafka accepts no events: deliverers look for work once a second instead.",
  },
  {
    name: "PosthasteBusHandlersFail",
    of: 'sum(rate(posthaste_bus_total{what=~"handlerFailures|parked"}[5m]))',
    when: "> 0",
    for: "10m",
    severity: "warning",
    summary: "Events of the bus cannot be handled.",
  },
  {
    name: "PosthasteFactsLost",
    of: 'sum(increase(posthaste_bus_total{what="placesLost"}[15m]))',
    when: "> 0",
    for: "0s",
    severity: "critical",
    summary: "Kafka has removed facts before they were heard: the message log lacks their entries.",
  },
  {
    name: "PosthasteStoreSlow",
    of: "posthaste:commit_seconds:p99",
    when: "> 1",
    for: "10m",
    severity: "warning",
    summary: "A commit of the store takes {{ $value | humanizeDuration }} (p99).",
  },
  {
    name: "PosthasteEventLoopBlocked",
    of: 'max by (job, instance) (posthaste_event_loop_delay_seconds{percentile="99"})',
    when: "> 0.5",
    for: "5m",
    severity: "warning",
    summary: "{{ $labels.instance }} of {{ $labels.job }} is busy: more processes, or less work.",
  },
];
