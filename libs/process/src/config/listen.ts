/** Where the HTTP edge listens, and which origins and proxies it trusts. */
import { z } from "zod";
import { variables } from "./variable.ts";
import { addressRanges, wholeNumber } from "./values.ts";

const subject = "HTTP";
/** The catcher and the management API take the next two. */
const portMax = 65_533;

const host = z
  .string()
  .regex(/^[0-9A-Za-z.:_-]{1,253}$/)
  .register(variables, {
    subject,
    rule: "an address or a host name",
    summary: "The address to listen on; `0.0.0.0` or `::` for all.",
    default: "127.0.0.1",
  });

const port = (defaultPort: string) =>
  wholeNumber(0, portMax, {
    subject,
    summary:
      "The port to listen on. The standalone also takes the next two, for the catcher and the management API. 0: any free ports.",
    default: defaultPort,
  });

export const listenShape = { host, port: port("8080") };
export const managementListenShape = { host, port: port("8082") };

export const originsShape = {
  devOrigins: z.enum(["local", "any"]).register(variables, {
    subject,
    rule: "local or any",
    summary:
      "The requests that the dev profile serves. `local`: requests to a localhost name or address, or to a name without a dot, and from a page in a browser only if the page has a localhost name. `any`: every page and name, with a token that is public. The production profile ignores this.",
    default: "local",
  }),
};

export const proxiesShape = {
  trustedProxies: addressRanges().register(variables, {
    subject,
    rule: "addresses or ranges (CIDR), separated by commas",
    summary:
      "Proxies whose `X-Forwarded-For` is trusted: the caller's address is the rightmost address that is not a trusted proxy.",
  }),
};
