/** The adapter of MongoDB as each simulated process has it: over a connection of its own to the one server in memory. */
import { createPatience, openPorts } from "@posthaste/documents-mongo";
import { type Clock, pause } from "@posthaste/ports";
import { type Dice, recordingLog, seededRandom } from "@posthaste/testing";
import { type Stores } from "../stores.ts";
import { connectionOf } from "../mongodb/connection.ts";
import { checksClient } from "./seen.ts";
import { Server, type ServerOptions } from "../mongodb/server.ts";
import { Stalls } from "./stalls.ts";
import { type Environment, type Life, type Wire } from "../world/node.ts";
import { type World } from "../world/world.ts";

const patienceMs = 2_500;
/** An operation of a port takes about this many calls of the driver. */
const callsPerOperation = 3;
const waitPerDocument = 0.3;
const waitMsMax = 2;
/** The share of failed calls that a primary has left half done. */
const halfDone = 0.1;

/** Makes the server, whose statements let others continue between two documents, may stall there, and may be cut by a step-down. */
export function serverIn(
  environment: Environment,
  chance: Dice,
  { changed, instead }: Required<Pick<ServerOptions, "changed">> & Pick<ServerOptions, "instead">,
): Server {
  const { history, troubles, world } = environment;
  const stalls = new Stalls(environment, chance.fork());
  return new Server({
    ...(instead && { instead }),
    changed: (change) => {
      changed(change);
      stalls.changed(change);
    },
    between: async (by, next) => {
      if (by === checksClient) return;
      if (chance.chance(waitPerDocument)) await world.wait(chance.integer(0, waitMsMax));
      await stalls.passed(by, next);
      if (!chance.chance(troubles().failPerCall * halfDone)) return;
      history.count("statements cut");
      throw steppedDown();
    },
  });
}

/** Opens the ports as this process reaches them. Each call of the driver goes over its wire, and the adapter repeats those that fail. */
export function portsThrough(server: Server, life: Life, world: World, chance: Dice): Stores {
  const wire: Wire = {
    calls: callsPerOperation,
    failure: () => (chance.chance(0.5) ? lostConnection() : steppedDown()),
  };
  // The timers of its patience watch over single calls: at rest a process has none.
  const clock: Clock = {
    ...world.storeClock(),
    after: (ms, task) => world.after(ms, () => life.deliver(task)),
  };
  const random = seededRandom(chance.integer(0, 0xffff_ffff));
  const { again, answered } = createPatience(clock, random, patienceMs);
  const client = {
    server,
    by: life.name,
    call: <T>(operation: string, effect: () => Promise<T>) => life.call(operation, effect, wire),
  };
  return openPorts(
    connectionOf(client, {
      clock,
      random,
      log: recordingLog(false),
      pause: (ms) => pause(clock, ms),
      again: (task) => {
        // The heartbeats of a process continue, and find the server again.
        answered();
        return again(task);
      },
    }),
  ).ports;
}

/** Opens the ports as the checks read them: nothing takes time, and nothing goes wrong. */
export function calmPorts(server: Server, world: World): Stores {
  const call = <T>(_: string, effect: () => Promise<T>): Promise<T> => effect();
  return openPorts(
    connectionOf(
      { server, by: checksClient, call },
      {
        clock: world.storeClock(),
        random: seededRandom(1),
        log: recordingLog(false),
        pause: (ms) => world.wait(ms),
        again: (task) => task(),
      },
    ),
  ).ports;
}

/** Failures of a call with an unknown outcome, as the driver and the server name them. */
const lostConnection = (): Error =>
  Object.assign(new Error("connection closed"), { name: "MongoNetworkError" });

const steppedDown = (): Error =>
  Object.assign(new Error("interrupted: the primary steps down"), {
    name: "MongoServerError",
    code: 11_602,
  });
