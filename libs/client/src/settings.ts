/** Turns settings into headers: `{ delay: "10m" }` becomes `Service-Delay: 10m`. */
import { type Setting, settingNames, type Settings } from "./api.ts";
import { InvalidCall } from "./invalid-call.ts";

const prefix = "Service-";

export function settingHeaders(settings: Settings): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries<Setting | undefined>(settings)) {
    if (value === undefined) continue;
    if (!isSetting(name)) throw new InvalidCall(`${name}: is not a setting`);
    headers[prefix + settingNames[name]] = typeof value === "object" ? value.join(",") : `${value}`;
  }
  return headers;
}

const isSetting = (name: string): name is keyof typeof settingNames =>
  Object.hasOwn(settingNames, name);

/** Headers for a destination or a callback, by their own names. */
type Forwarded = Readonly<Record<string, string>>;

const families = {
  headers: "Forward-",
  callbackHeaders: "Callback-Forward-",
  failureCallbackHeaders: "Failure-Callback-Forward-",
} as const;

export type ForwardedHeaders = {
  readonly [Family in keyof typeof families]?: Forwarded | undefined;
};

export function forwardedHeaders(forwarded: ForwardedHeaders): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const family of ["headers", "callbackHeaders", "failureCallbackHeaders"] as const)
    for (const [name, value] of Object.entries(forwarded[family] ?? {}))
      headers[prefix + families[family] + name] = value;
  return headers;
}
