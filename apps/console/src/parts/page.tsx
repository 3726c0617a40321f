/** A page: its title, which the tab and screen readers get, and what stands beside it. */
import { type ReactNode, useEffect, useRef } from "react";
import { shown } from "../api/text.ts";
import { CopyButton } from "./copy.tsx";

type Props = {
  readonly title: string;
  /** The id of one thing, with a button that copies it. */
  readonly id?: string;
  /** Beside the title. */
  readonly state?: ReactNode;
  /** On the right: what may be done. */
  readonly actions?: ReactNode;
  readonly children: ReactNode;
};

/** The first page of a load leaves the focus where the browser has it. */
let isFirst = true;

export function Page({ title, id, state, actions, children }: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  const whole = id === undefined ? title : `${title} ${shown(id)}`;
  useEffect(() => {
    document.title = `${whole} · Posthaste`;
  }, [whole]);
  useEffect(() => {
    if (!isFirst) heading.current?.focus();
    isFirst = false;
  }, []);
  return (
    <>
      <div className="heading">
        <div className={id === undefined ? "title" : "title of-one"}>
          <h1 ref={heading} tabIndex={-1}>
            {whole}
          </h1>
          {id !== undefined && <CopyButton text={id} name="Copy the id" />}
          {state}
        </div>
        {actions !== undefined && <div className="buttons">{actions}</div>}
      </div>
      <div className="stack">{children}</div>
    </>
  );
}

type PanelProps = {
  readonly title: string;
  readonly aside?: ReactNode;
  readonly children: ReactNode;
};

/** A part of a page under a title of its own. */
export function Panel({ title, aside, children }: PanelProps) {
  return (
    <section className="panel" aria-label={title}>
      <header>
        <h2>{title}</h2>
        {aside !== undefined && <span className="aside">{aside}</span>}
      </header>
      {children}
    </section>
  );
}

/** The panel's content with its usual space around it. */
export const Inside = ({ children }: { readonly children: ReactNode }) => (
  <div className="inside stack">{children}</div>
);
