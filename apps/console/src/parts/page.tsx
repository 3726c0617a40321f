/** A page: its title, which the tab and screen readers get, and what stands beside it. */
import { type ReactNode, useEffect, useRef } from "react";

type Props = {
  readonly title: string;
  /** Beside the heading: what may be done. */
  readonly actions?: ReactNode;
  readonly children: ReactNode;
};

/** The first page of a load leaves the focus where the browser has it. */
let isFirst = true;

export function Page({ title, actions, children }: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Posthaste`;
  }, [title]);
  useEffect(() => {
    if (!isFirst) heading.current?.focus();
    isFirst = false;
  }, []);
  return (
    <>
      <div className="heading">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {actions !== undefined && <div className="actions">{actions}</div>}
      </div>
      {children}
    </>
  );
}
