/** What every request to management passes on its way in: credentials first, whatever it asks for. */
import { fault, type Fault, isFault } from "@posthaste/domain";
import { type Log } from "@posthaste/ports";
import {
  type AddressSet,
  type BodyBudget,
  callerIp,
  onlyValueOf,
  readBody,
  type Reply,
  type Work,
} from "@posthaste/runtime";
import { type CheckOperator } from "./basic.ts";

export type Door = {
  readonly checkOperator: CheckOperator;
  readonly trustedProxies: AddressSet;
  readonly bodyBudget: BodyBudget;
  readonly log: Log;
};

type Request = Parameters<Work>[0];

export type Visit = {
  param: (name: string) => string;
  body: () => Promise<Uint8Array | Fault>;
};

type Answer = (visit: Visit) => Promise<Reply | Fault>;

const bodyBytesMax = 64 * 1024;

export const reads = (door: Door, answer: Answer): Work => admitted(door, answer);

/** One line in the log for each change, and for each that was tried. */
export const writes = (door: Door, answer: Answer): Work =>
  admitted(door, answer, (req) => refusalOfOrigin(req.headers["sec-fetch-site"]));

function admitted(door: Door, answer: Answer, refuse?: (req: Request) => Fault | undefined): Work {
  return async (req, res) => {
    const address = callerIp(req, door.trustedProxies);
    const stranger = door.checkOperator(onlyValueOf(req, "authorization"), address);
    if (stranger) return stranger;
    const result =
      refuse?.(req) ??
      (await answer({
        param: (name) => paramOf(req, name),
        body: () => readBody(res, { bytesMax: bodyBytesMax, budget: door.bodyBudget }),
      }));
    const outcome = isFault(result) ? result.fault : "done";
    if (refuse)
      door.log.info("management.asked", {
        method: req.method,
        position: req.path,
        outcome,
        address,
      });
    return isFault(result) ? result : secret(result);
  };
}

/** Browsers keep a password and send it along with what other pages ask for; they say whose idea it was. */
function refusalOfOrigin(site: string | string[] | undefined): Fault | undefined {
  return site === undefined || site === "same-origin" || site === "none"
    ? undefined
    : fault("forbidden", "a page of another origin may not change anything");
}

/** Most answers hold secrets, and what is kept by caches is out of our hands. */
const secret = (reply: Reply): Reply => ({
  ...reply,
  headers: [...(reply.headers ?? []), "Cache-Control", "no-store"],
});

function paramOf(req: Request, name: string): string {
  const value = req.params[name];
  return typeof value === "string" ? value : "";
}
