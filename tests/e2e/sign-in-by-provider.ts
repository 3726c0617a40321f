/** A browser for signing in by a provider: keeps cookies, and follows one redirect at a time. */

export class Visitor {
  readonly #console: string;
  readonly #behind: string;
  readonly #address: string;
  readonly #cookies = new Map<string, Map<string, string>>();
  readonly setCookies: string[] = [];

  /** `console`: its public address, over TLS. `behind`: the server itself. `address`: the browser's. */
  constructor(console: string, behind: string, address: string) {
    this.#console = console;
    this.#behind = behind;
    this.#address = address;
  }

  cookie(at = this.#console): string {
    return [...this.#jar(at)].map(([name, value]) => `${name}=${value}`).join("; ");
  }

  /** Returns the target of a redirect, or undefined. */
  async go(at: string): Promise<string | undefined> {
    const { origin } = new URL(this.#console);
    const answer = await fetch(at.replace(origin, this.#behind), {
      headers: { cookie: this.cookie(at), "x-forwarded-for": this.#address },
      redirect: "manual",
    });
    await answer.text();
    for (const set of answer.headers.getSetCookie()) {
      this.setCookies.push(set);
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      if (value === "") this.#jar(at).delete(name);
      else this.#jar(at).set(name, value);
    }
    const location = answer.headers.get("location");
    return location === null ? undefined : new URL(location, at).href;
  }

  /** Follows redirects to an address that begins with `until`, and returns it. */
  async follow(at: string, until: string): Promise<string> {
    let next: string | undefined = at;
    for (let step = 0; step < stepsMax && next !== undefined; step++) {
      next = await this.go(next);
      if (next?.startsWith(until)) return next;
    }
    throw new Error(`it led to ${next}`);
  }

  #jar(at: string): Map<string, string> {
    const { host } = new URL(at);
    const jar = this.#cookies.get(host) ?? new Map<string, string>();
    this.#cookies.set(host, jar);
    return jar;
  }
}

const stepsMax = 10;
