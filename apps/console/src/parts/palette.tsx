/** Goes to anything: a page, an id, or what a name finds. Ctrl-K, ⌘K or / opens it. */
import { Autocomplete } from "@base-ui/react/autocomplete";
import { Dialog } from "@base-ui/react/dialog";
import { Search } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { go } from "../address.ts";
import { search } from "../api/lookups.ts";
import { useSession } from "../api/session.ts";
import { shown, wordsOf } from "../api/text.ts";
import { type Found, matching } from "../rules/found.ts";

type Props = {
  readonly pages: readonly Found[];
};

export function Palette({ pages }: Props) {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => onKeys(() => setOpen(true)), []);
  return (
    <Dialog.Root open={isOpen} onOpenChange={setOpen}>
      <Dialog.Trigger className="search-button" aria-keyshortcuts="Control+K Meta+K">
        <Search className="icon" aria-hidden />
        <span>Find by id, name, label or URL</span>
        <kbd>Ctrl K</kbd>
      </Dialog.Trigger>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="dialog palette" aria-label="Go to anything">
          <Finder pages={pages} close={() => setOpen(false)} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

type Progress =
  | { readonly kind: "nothing" | "looking" | "looked" }
  | { readonly kind: "trouble"; readonly text: string };

/** The pause after the last key before a search. */
const pauseMs = 200;

function Finder({ pages, close }: Props & { readonly close: () => void }) {
  const { session } = useSession();
  const [text, setText] = useState("");
  const [found, setFound] = useState<readonly Found[]>([]);
  const [progress, setProgress] = useState<Progress>({ kind: "nothing" });
  // Enter was pressed before there were results.
  const isAwaited = useRef(false);
  const asked = text.trim();
  const open = ({ to }: Found): void => {
    close();
    go(to);
  };
  useEffect(() => {
    isAwaited.current = false;
    setFound([]);
    if (asked === "") return setProgress({ kind: "nothing" });
    setProgress({ kind: "looking" });
    const left = new AbortController();
    const tell = (more: readonly Found[]): void => {
      if (left.signal.aborted || more.length === 0) return;
      const [first] = more;
      if (isAwaited.current && first !== undefined) return open(first);
      // The same thing may be found by its id and by its name.
      setFound((before) => [
        ...before,
        ...more.filter(({ to }) => before.every((each) => each.to !== to)),
      ]);
    };
    const timer = setTimeout(() => {
      search(session, asked, tell).then(
        () => left.signal.aborted || setProgress({ kind: "looked" }),
        (reason: unknown) =>
          left.signal.aborted || setProgress({ kind: "trouble", text: wordsOf(reason) }),
      );
    }, pauseMs);
    return () => {
      clearTimeout(timer);
      left.abort();
    };
    // The rest does not change while the finder is open.
  }, [asked, session]);
  const items = [...found, ...matching(pages, asked)];
  return (
    <Autocomplete.Root
      items={items}
      mode="none"
      inline
      open
      autoHighlight="always"
      value={text}
      onValueChange={(next, { reason }) => reason !== "item-press" && setText(next)}
      itemToStringValue={({ title }) => title}
    >
      <div className="entry">
        <Search className="icon" aria-hidden />
        <Autocomplete.Input
          aria-label="Go to anything"
          placeholder="Any id, URL, or name of a run, queue, group, label or schedule"
          spellCheck={false}
          onKeyDown={({ key }) => {
            if (key === "Enter" && items.length === 0) isAwaited.current = true;
          }}
        />
      </div>
      <Autocomplete.List className="list">
        {(item: Found) => (
          <Autocomplete.Item
            key={`${item.what} ${item.to}`}
            value={item}
            className="item"
            onClick={() => open(item)}
          >
            <span className="what">{item.what}</span>
            <span className="title">{shown(item.title)}</span>
          </Autocomplete.Item>
        )}
      </Autocomplete.List>
      <p role="status" className={progress.kind === "trouble" ? "said trouble" : "said"}>
        {progress.kind === "looking" && "Looking…"}
        {progress.kind === "trouble" && progress.text}
        {progress.kind === "looked" &&
          items.length === 0 &&
          `Nothing found for ${shown(asked, 60)}.`}
      </p>
    </Autocomplete.Root>
  );
}

function onKeys(open: () => void): () => void {
  const onKey = (event: KeyboardEvent): void => {
    const isTyping =
      event.target instanceof Element && event.target.closest("input, select, textarea");
    const isCommand = event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey);
    const isSlash =
      event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey;
    if (!isCommand && !isSlash) return;
    event.preventDefault();
    open();
  };
  addEventListener("keydown", onKey);
  return () => removeEventListener("keydown", onKey);
}
