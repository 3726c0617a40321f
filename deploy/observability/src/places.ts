/** Places each metric of the catalogue on a dashboard. A new metric without a place does not compile. */
import { type MetricName } from "@posthaste/ports";

export type BoardName = "overview" | "deliveries" | "lanes-and-queues" | "runs" | "stores-and-bus";

type Unit = "short" | "s" | "bytes" | "ops" | "percentunit";

export type Place = {
  readonly board: BoardName;
  readonly title: string;
  readonly unit: Unit;
  /** The page of the console with more details. */
  readonly console?:
    | "/messages"
    | "/dead-letters"
    | "/queues"
    | "/flow-keys"
    | "/runs"
    | "/schedules";
  /**
   * How the gauges of several processes become one line: `max` if all report the same or the worst counts, `sum` if
   * each has its part, `each` if the process matters, `age` if the gauge is a time in the past.
   */
  readonly over?: "max" | "sum" | "each" | "age";
};

export const places: Readonly<Record<MetricName, Place>> = {
  posthaste_messages_accepted_total: {
    board: "deliveries",
    title: "Messages accepted",
    unit: "ops",
  },
  posthaste_attempts_total: {
    board: "deliveries",
    title: "Attempts by outcome",
    unit: "ops",
    console: "/messages",
  },
  posthaste_messages_ended_total: {
    board: "deliveries",
    title: "Messages ended",
    unit: "ops",
  },
  posthaste_delivery_latency_seconds: {
    board: "deliveries",
    title: "From due to delivered",
    unit: "s",
  },
  posthaste_roster_age_seconds: {
    board: "stores-and-bus",
    title: "Age of the roster",
    unit: "s",
    over: "max",
  },
  posthaste_named_hints_total: {
    board: "stores-and-bus",
    title: "Messages named for a deliverer",
    unit: "ops",
  },
  posthaste_log_left_total: {
    board: "stores-and-bus",
    title: "Deliveries left for the sweep to log",
    unit: "ops",
  },
  posthaste_attempts_running: {
    board: "deliveries",
    title: "Attempts that run now",
    unit: "short",
    over: "sum",
  },
  posthaste_attempts_waiting: {
    board: "deliveries",
    title: "Due and waiting for a slot",
    unit: "short",
    over: "sum",
  },
  posthaste_attempts_body_bytes: {
    board: "deliveries",
    title: "Bodies in memory",
    unit: "bytes",
    over: "each",
  },
  posthaste_attempts_answer_bytes: {
    board: "deliveries",
    title: "Answers in memory",
    unit: "bytes",
    over: "each",
  },
  posthaste_ssrf_blocked_late_total: {
    board: "deliveries",
    title: "Forbidden addresses found late",
    unit: "ops",
  },
  posthaste_callbacks_total: {
    board: "deliveries",
    title: "Callbacks made",
    unit: "ops",
  },
  posthaste_dead_letters: {
    board: "deliveries",
    title: "Dead letters kept",
    unit: "short",
    over: "max",
    console: "/dead-letters",
  },
  posthaste_timer_lateness_seconds: {
    board: "lanes-and-queues",
    title: "How late alarms ring",
    unit: "s",
  },
  posthaste_oldest_past_due_seconds: {
    board: "lanes-and-queues",
    title: "Age of the oldest alarm past due",
    unit: "s",
    over: "max",
  },
  posthaste_shard_owners: {
    board: "lanes-and-queues",
    title: "Schedulers of each shard",
    unit: "short",
    over: "sum",
  },
  posthaste_queue_depth: {
    board: "lanes-and-queues",
    title: "Waiting in queues",
    unit: "short",
    over: "max",
    console: "/queues",
  },
  posthaste_queue_oldest_turn_seconds: {
    board: "lanes-and-queues",
    title: "Age of the oldest turn of a queue",
    unit: "s",
    over: "max",
  },
  posthaste_lane_depth: {
    board: "lanes-and-queues",
    title: "Waiting in lanes",
    unit: "short",
    over: "max",
    console: "/flow-keys",
  },
  posthaste_turns_given_total: {
    board: "lanes-and-queues",
    title: "Turns given by queues",
    unit: "ops",
  },
  posthaste_schedule_slots_total: {
    board: "lanes-and-queues",
    title: "Slots of schedules",
    unit: "ops",
    console: "/schedules",
  },
  posthaste_schedule_lateness_seconds: {
    board: "lanes-and-queues",
    title: "How late slots of schedules fire",
    unit: "s",
  },
  posthaste_bulk_cancelled_total: {
    board: "lanes-and-queues",
    title: "Cancelled by bulk actions",
    unit: "ops",
  },
  posthaste_runs_total: {
    board: "runs",
    title: "Runs started and ended",
    unit: "ops",
    console: "/runs",
  },
  posthaste_run_entries_total: { board: "runs", title: "Accepted by runs", unit: "ops" },
  posthaste_run_delivery_wait_seconds: {
    board: "runs",
    title: "Wait of a run's deliveries",
    unit: "s",
  },
  posthaste_run_stalls_total: { board: "runs", title: "Stalls", unit: "ops" },
  posthaste_runs_active: {
    board: "runs",
    title: "Active runs",
    unit: "short",
    over: "max",
    console: "/runs",
  },
  posthaste_runs_waiting: {
    board: "runs",
    title: "Runs that wait for an event",
    unit: "short",
    over: "max",
  },
  posthaste_run_oldest_past_due_seconds: {
    board: "runs",
    title: "Age of the oldest alarm of a run past due",
    unit: "s",
    over: "max",
  },
  posthaste_commit_writes: {
    board: "stores-and-bus",
    title: "Writes of one commit",
    unit: "short",
  },
  posthaste_commit_seconds: { board: "stores-and-bus", title: "Time of a commit", unit: "s" },
  posthaste_bus_total: { board: "stores-and-bus", title: "Kafka client", unit: "ops" },
  posthaste_tokens_total: { board: "stores-and-bus", title: "Script calls to Redis", unit: "ops" },
  posthaste_store_calls_total: {
    board: "stores-and-bus",
    title: "Calls to MongoDB",
    unit: "ops",
  },
  posthaste_event_loop_delay_seconds: {
    board: "overview",
    title: "Delay of the event loop",
    unit: "s",
    over: "max",
  },
  posthaste_build_info: {
    board: "overview",
    title: "Processes of each version",
    unit: "short",
    over: "sum",
  },
  process_start_time_seconds: {
    board: "overview",
    title: "Time since the start",
    unit: "s",
    over: "age",
  },
  process_cpu_seconds_total: { board: "overview", title: "CPU", unit: "percentunit" },
  process_resident_memory_bytes: {
    board: "overview",
    title: "Resident memory",
    unit: "bytes",
    over: "each",
  },
  posthaste_heap_bytes: {
    board: "overview",
    title: "Fullest heap",
    unit: "bytes",
    over: "max",
  },
  process_open_fds: {
    board: "overview",
    title: "Open files and sockets",
    unit: "short",
    over: "each",
  },
  process_max_fds: {
    board: "overview",
    title: "Files and sockets allowed",
    unit: "short",
    over: "each",
  },
};
