/** One box that takes any id: of a message, a run, a dead letter, a schedule or a bulk action. */
import { type FormEvent, useEffect, useRef, useState } from "react";
import { go } from "../address.ts";
import { lookupsOf } from "../api/lookups.ts";
import { useSession } from "../api/session.ts";
import { shown, wordsOf } from "../api/text.ts";
import { textIn } from "./form.ts";
import { resolveId } from "../rules/resolve-id.ts";

type Progress =
  | { readonly kind: "nothing" | "looking" }
  | { readonly kind: "unknown" | "trouble"; readonly text: string };

export function IdBox() {
  const { authorization } = useSession();
  const [progress, setProgress] = useState<Progress>({ kind: "nothing" });
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => focusedBySlash(input), []);
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = event.currentTarget;
    const id = textIn(new FormData(form), "id");
    if (id === "") return;
    setProgress({ kind: "looking" });
    resolveId(id, lookupsOf(authorization)).then(
      (found) => {
        if (found === undefined)
          return setProgress({ kind: "unknown", text: `Nothing has the id ${shown(id, 60)}.` });
        setProgress({ kind: "nothing" });
        form.reset();
        go(found);
      },
      (reason: unknown) => setProgress({ kind: "trouble", text: wordsOf(reason) }),
    );
  };
  return (
    <form role="search" className="id-box" onSubmit={submit}>
      <label className="hidden" htmlFor="id-box">
        Go to any id
      </label>
      <input
        id="id-box"
        name="id"
        ref={input}
        placeholder="Any id: message, run, dead letter, schedule…  ( / )"
        autoComplete="off"
        spellCheck={false}
      />
      <button type="submit">Go</button>
      <span role="status" className={progress.kind === "trouble" ? "trouble" : "muted"}>
        {progress.kind === "looking" && "Looking…"}
        {"text" in progress && progress.text}
      </span>
    </form>
  );
}

function focusedBySlash(input: { readonly current: HTMLInputElement | null }): () => void {
  const onKey = (event: KeyboardEvent): void => {
    const isTyping =
      event.target instanceof Element && event.target.closest("input, select, textarea");
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || isTyping) return;
    event.preventDefault();
    input.current?.focus();
  };
  addEventListener("keydown", onKey);
  return () => removeEventListener("keydown", onKey);
}
