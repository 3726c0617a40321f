import { Check, Copy } from "lucide-react";
import { useState } from "react";
import { apiBase } from "../api/call.ts";
import { shown } from "../api/text.ts";
import { type Called, curlOf } from "../rules/curl.ts";

type Props = {
  readonly text: string;
  readonly name: string;
  readonly label?: string;
};

const said = "Copied";
const saidMs = 1_500;

export function CopyButton({ text, name, label }: Props) {
  const [isDone, setDone] = useState(false);
  const copy = (): void => {
    void copied(text).then(() => {
      setDone(true);
      setTimeout(() => setDone(false), saidMs);
    });
  };
  const Icon = isDone ? Check : Copy;
  return (
    <button
      type="button"
      className={label === undefined ? "quiet small icon-only" : "small"}
      aria-label={label !== undefined && isDone ? said : name}
      title={name}
      onClick={copy}
    >
      <Icon className="icon" aria-hidden />
      {label !== undefined && (isDone ? said : label)}
    </button>
  );
}

/**
 * Falls back to a text area, since browsers give the clipboard to secure origins only, and a console inside a network is
 * often served over plain HTTP.
 */
async function copied(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

/** Writes a POST to a path of the API. */
export const postAsCurl = (path: string, sent: Pick<Called, "headers" | "body">): string =>
  curlOf({ method: "POST", url: new URL(path, apiBase()).href, ...sent });

/** The most that is laid out at each key that is typed into a form. */
const charsMax = 20_000;

/** Shows the beginning of a call. All of it is copied. */
export function Call({ curl }: { readonly curl: string }) {
  return (
    <div className="call">
      <pre tabIndex={0} role="region" aria-label="As curl">
        {shown(curl, charsMax)}
      </pre>
      <CopyButton text={curl} name="Copy as curl" />
    </div>
  );
}
