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
  readonly onChange: () => Promise<void>;
  readonly log: Log;
};

type Request = Parameters<Work>[0];

export type Visit = {
  readonly address: string;
  param: (name: string) => string;
  body: () => Promise<Uint8Array | Fault>;
};

type Answer = (visit: Visit, req: Request) => Promise<Reply | Fault>;

const bodyBytesMax = 64 * 1024;

export const reads = (door: Door, answer: Answer): Work => admitted(door, answer);

/** One line in the log for each change, and for each that was tried. */
export const writes = (door: Door, answer: Answer): Work =>
  admitted(door, async (visit, req) => {
    const result = refusalOfOrigin(req.headers["sec-fetch-site"]) ?? (await answer(visit, req));
    const outcome = isFault(result) ? result.fault : "done";
    const { address } = visit;
    door.log.info("management.asked", { method: req.method, to: req.path, outcome, address });
    if (!isFault(result)) await tellOfChange(door);
    return result;
  });

function admitted(door: Door, answer: Answer): Work {
  return async (req, res) => {
    const address = callerIp(req, door.trustedProxies);
    const stranger = door.checkOperator(onlyValueOf(req, "authorization"), address);
    if (stranger) return stranger;
    const visit: Visit = {
      address,
      param: (name) => paramOf(req, name),
      body: () => readBody(res, { bytesMax: bodyBytesMax, budget: door.bodyBudget }),
    };
    const result = await answer(visit, req);
    return isFault(result) ? result : secret(result);
  };
}

/** What was changed is changed, whether or not everybody could be told at once. */
const tellOfChange = ({ onChange, log }: Door): Promise<void> =>
  onChange().catch((error: unknown) => log.warn("accounts.stale", { error }));

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
