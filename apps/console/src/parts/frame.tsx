/** What stands around every page: the menu, the box for ids, and whose session it is. */
import { type ReactNode, useRef } from "react";
import { usePath } from "../address.ts";
import { useSession } from "../api/session.ts";
import { shown } from "../api/text.ts";

export type MenuItem = readonly [to: string, title: string];

type Props = {
  readonly items: readonly MenuItem[];
  readonly top?: ReactNode;
  readonly children: ReactNode;
};

export function Frame({ items, top, children }: Props) {
  const [path] = usePath();
  const { name, mayWrite, signOut } = useSession();
  const main = useRef<HTMLElement>(null);
  const isHere = (to: string): boolean =>
    to === "/" ? path === "/" : path === to || path.startsWith(`${to}/`);
  return (
    <div className="frame">
      <a
        className="skip"
        href="#main"
        onClick={(event) => {
          // The part behind the # is the address of the page.
          event.preventDefault();
          main.current?.focus();
        }}
      >
        Skip to the page
      </a>
      <div className="menu">
        <span className="brand">Posthaste</span>
        <nav aria-label="Pages">
          <ul>
            {items.map(([to, title]) => (
              <li key={to}>
                <a href={`#${to}`} aria-current={isHere(to) ? "page" : undefined}>
                  {title}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <footer>
          <p>{shown(name)}</p>
          {!mayWrite && <p className="muted">may only read</p>}
          <p className="muted">Times are in UTC.</p>
          <p>
            <button type="button" onClick={signOut}>
              Sign out
            </button>
          </p>
        </footer>
      </div>
      {top !== undefined && <div className="top">{top}</div>}
      <main id="main" ref={main} tabIndex={-1}>
        {children}
      </main>
    </div>
  );
}
