/** One seed, one history: troubles, then healing, then rest, then the checks. */
import { addToGroup } from "@posthaste/engine";
import { defaultPlan, dlqId } from "@posthaste/domain";
import { dice } from "@posthaste/testing";
import { type Backend } from "./backend.ts";
import { bulkWorkload } from "./bulk-workload.ts";
import { atRest, describeUnrest, restless } from "./checks/at-rest.ts";
import { checkHistory } from "./checks/history.ts";
import { letterWorkload } from "./letter-workload.ts";
import { plainWorkload } from "./plain-workload.ts";
import { scheduleWorkload } from "./schedule-workload.ts";
import { openStage, type Simulated, type SimulationOptions } from "./stage.ts";
import { workload } from "./workload.ts";
import { type Exchange, type History } from "./world/history.ts";

const stepMs = 1_000;
const lookEveryMs = 5_000;
/** The time left after healing: a hint lost again and again doubles its distance to ten minutes; then leases, and the sweep. */
const healingMsMax = 1_500_000;
/** Seeds of their own, so that the draws of schedules change no history without them. */
const scheduleSeeds = 1_000_000;
const bulkSeeds = 2_000_000;
const plainSeeds = 3_000_000;
const letterSeeds = 4_000_000;
/** Runs with another planted bug have no letter workload: some bugs show in few histories. */
const letterShare = 0.25;
const sweepMsMax = 120_000;

export async function simulate(options: SimulationOptions): Promise<Simulated> {
  const { seed, mutation } = options;
  const stage = openStage("messages", options);
  const { world, history, environment, backend, composed, store, wrongByMsMax } = stage;
  stage.meeting.onReceipt((exchange) => checkFailureCallback(history, backend, exchange));
  const bulk = bulkWorkload(
    environment,
    dice(bulkSeeds + seed),
    mutation?.shownBy === "bulkActions",
  );
  const work = workload(environment, store !== "model", bulk, mutation?.shownBy === "queues");
  const scheduling = scheduleWorkload(
    environment,
    dice(scheduleSeeds + seed),
    work.groups,
    mutation?.shownBy === "schedules",
  );
  const plain = plainWorkload(
    environment,
    dice(plainSeeds + seed),
    mutation?.shownBy === "plainMessages",
  );
  const letters = letterWorkload(
    environment,
    dice(letterSeeds + seed),
    mutation ? Number(mutation.shownBy === "deadLetters") : letterShare,
  );
  const lastAtMs = Math.max(work.lastAtMs, scheduling.lastAtMs, plain.lastAtMs, letters.lastAtMs);
  for (const { tenant, name, endpoints } of work.groups) {
    await world.during(addToGroup(backend.groups, tenant, name, endpoints, defaultPlan));
  }
  await stage.start(() => {
    work.start(() => composed.gateways());
    scheduling.start(composed);
    plain.start(composed);
    letters.start(() => composed.gateways());
  });

  while (world.elapsed < lastAtMs + 10_000 && !stage.isOver()) await world.advance(stepMs);
  stage.heal();
  if (!stage.isOver()) await scheduling.end(composed, backend);
  const restBy = lastAtMs + work.longestMs + healingMsMax + wrongByMsMax;
  const settledClients = (): boolean =>
    history.publications.length >= work.planned &&
    history.publications.every(({ settledAt }) => settledAt !== undefined) &&
    history.bulkCancels.every(({ endedAt }) => endedAt !== undefined) &&
    history.letterRetries.every(({ endedAt }) => endedAt !== undefined);
  const unrest = restless(history, backend);
  let left = await world.during(unrest());
  while ((!settledClients() || left.length > 0) && world.elapsed < restBy && !stage.isOver()) {
    await world.advance(lookEveryMs);
    if (!settledClients()) continue;
    // Accepted work ends, though no new work is accepted.
    backend.model?.fillDisk();
    left = await world.during(unrest());
  }
  if (!stage.isOver() && left.length > 0) history.violate("C21", describeUnrest(left));
  if (!stage.isOver()) {
    await world.advance(sweepMsMax + wrongByMsMax);
    await world.during(atRest(history, backend, composed));
    await world.during(checkHistory(history, backend, stage.shape));
  }
  count(history);
  return stage.close(work.planned);
}

/** C13 at the receiver: the dead letter that a failure callback names can be read. */
function checkFailureCallback(
  history: History,
  backend: Backend,
  { id, tenant, body }: Exchange,
): void {
  if (!id.endsWith("_fcb")) return;
  const said: unknown = JSON.parse(new TextDecoder().decode(body));
  const named =
    typeof said === "object" && said !== null && "dlqId" in said ? said.dlqId : undefined;
  history.count("failureCallbacks");
  void backend.deadLetters.get(tenant, dlqId(String(named))).then((letter) => {
    if (!letter)
      history.violate("I6", `${id} names the dead letter ${String(named)}, which is not there`);
  });
}

function count(history: History): void {
  for (const { settlement } of history.applied.values())
    history.count(`settled.${settlement.next.kind}`);
}
