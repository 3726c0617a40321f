/** A page: its title, for the tab and screen readers, too, and its surroundings. */
import { type ReactNode, useEffect, useRef } from "react";
import { shown } from "../api/text.ts";
import { CopyButton } from "./copy.tsx";

type Props = {
  readonly title: string;
  /** The id of one thing, with a button that copies it. */
  readonly id?: string;
  readonly state?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
};

/** The first page after loading leaves the focus to the browser. */
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

export const Inside = ({ children }: { readonly children: ReactNode }) => (
  <div className="inside stack">{children}</div>
);
