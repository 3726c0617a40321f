/** Forms of values that several variables share. A form registers the variable, and says its rule unless the variable has one. */
import { isIP } from "node:net";
import { isLoopbackName } from "@posthaste/domain";
import { z } from "zod";
import { type Variable, variables } from "./variable.ts";

type Described = Omit<Variable, "rule"> & Partial<Pick<Variable, "rule">>;

export const wholeNumber = (min: number, max: number, variable: Described) =>
  z
    .string()
    .regex(/^\d{1,9}$/)
    .transform(Number)
    .refine((value) => value >= min && value <= max)
    .register(variables, { rule: `a whole number from ${min} to ${max}`, ...variable });

export const onOff = (variable: Described) =>
  z
    .enum(["on", "off"])
    .transform((value) => value === "on")
    .register(variables, { rule: "on or off", ...variable });

const rangesMax = 256;

/** Parses `10.0.0.0/8,fd00::/8`; a single address is a range of one. Empty if not set. */
export const addressRanges = () =>
  z
    .string()
    .transform((text) => text.split(",").map((range) => range.trim()))
    .refine((ranges) => ranges.length <= rangesMax && ranges.every(isAddressRange))
    .optional()
    .transform((ranges): readonly string[] => Object.freeze(ranges ?? []));

function isAddressRange(text: string): boolean {
  const [address = "", prefix, ...rest] = text.split("/");
  const family = isIP(address);
  if (family === 0 || address.includes("%") || rest.length > 0) return false;
  if (prefix === undefined) return true;
  return /^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128);
}

export const printable = (lengthMin: number, lengthMax: number, variable: Described) =>
  printableText(lengthMin, lengthMax).register(variables, {
    rule: `${lengthMin} to ${lengthMax} printable characters without spaces`,
    ...variable,
  });

const printableText = (lengthMin: number, lengthMax: number) =>
  z
    .string()
    .min(lengthMin)
    .max(lengthMax)
    .regex(/^[\x21-\x7e]*$/);

const urlLengthMax = 4_096;

/** Accepts an https URL, or an http URL of this machine, for trying out. `isRight`: a further condition. */
export const httpsUrl = (isRight: (url: URL) => boolean = () => true) =>
  z
    .string()
    .max(urlLengthMax)
    .refine((text) => {
      const url = URL.parse(text);
      const isPlain = url !== null && !url.username && !url.search && !url.hash;
      return isPlain && isSafe(url) && isRight(url);
    });
export const httpsUrlRule =
  "an https:// address, or http:// of this machine, without user, query and fragment";

const isSafe = ({ hostname, protocol }: URL): boolean =>
  protocol === "https:" ||
  (protocol === "http:" &&
    (isLoopbackName(hostname) ||
      hostname === "[::1]" ||
      (isIP(hostname) === 4 && hostname.startsWith("127."))));

/** Checks only the beginning: several hosts in one address are a URL to their driver only. */
export const address = (...schemes: readonly string[]) =>
  printableText(1, 2_048).refine((text) =>
    schemes.some((scheme) => text.startsWith(`${scheme}://`) && text.length > scheme.length + 3),
  );
