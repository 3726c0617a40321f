/** The frame of every page: the menu, the bar above, and the session's owner. */
import { Dialog } from "@base-ui/react/dialog";
import { Menu as Popup } from "@base-ui/react/menu";
import { ChevronsUpDown, LogOut, type LucideIcon, Menu as MenuIcon, Send } from "lucide-react";
import { type ReactNode, useRef, useState } from "react";
import { usePath } from "../address.ts";
import { useAway } from "../api/asked.ts";
import { useSession } from "../api/session.ts";
import { shown } from "../api/text.ts";

type MenuItem = { readonly to: string; readonly title: string; readonly icon: LucideIcon };
export type MenuGroup = { readonly title?: string; readonly items: readonly MenuItem[] };

type Props = {
  readonly groups: readonly MenuGroup[];
  readonly top?: ReactNode;
  readonly children: ReactNode;
};

export function Frame({ groups, top, children }: Props) {
  const main = useRef<HTMLElement>(null);
  const [isMenuOpen, setMenuOpen] = useState(false);
  const away = useAway();
  return (
    <div className="frame">
      <a
        className="skip"
        href="#main"
        onClick={(event) => {
          // The part after the # is the page's address.
          event.preventDefault();
          main.current?.focus();
        }}
      >
        Skip to content
      </a>
      <Side groups={groups} />
      <header className={top === undefined ? "top bare" : "top"}>
        <Dialog.Root open={isMenuOpen} onOpenChange={setMenuOpen}>
          <Dialog.Trigger className="quiet icon-only open-menu" aria-label="Menu">
            <MenuIcon className="icon" aria-hidden />
          </Dialog.Trigger>
          <Dialog.Portal>
            <Dialog.Backdrop className="backdrop" />
            <Dialog.Popup className="drawer" aria-label="Menu">
              <Side groups={groups} onGone={() => setMenuOpen(false)} />
            </Dialog.Popup>
          </Dialog.Portal>
        </Dialog.Root>
        {top}
      </header>
      <main id="main" ref={main} tabIndex={-1}>
        {away !== undefined && (
          <p role="status" className="notice bad away">
            {away} This page may be out of date. Retrying…
          </p>
        )}
        {children}
      </main>
    </div>
  );
}

type SideProps = { readonly groups: readonly MenuGroup[]; readonly onGone?: () => void };

function Side({ groups, onGone }: SideProps) {
  const [path] = usePath();
  const isHere = (to: string): boolean =>
    to === "/" ? path === "/" : path === to || path.startsWith(`${to}/`);
  return (
    <div className="side">
      <span className="brand">
        <Send className="icon" aria-hidden />
        Posthaste
      </span>
      <nav aria-label="Pages" className="menu">
        {groups.map(({ title, items }, nth) => (
          <div key={title ?? nth}>
            {title !== undefined && <h2>{title}</h2>}
            <ul>
              {items.map(({ to, title: name, icon: Icon }) => (
                <li key={to}>
                  <a
                    href={`#${to}`}
                    aria-current={isHere(to) ? "page" : undefined}
                    onClick={() => onGone?.()}
                  >
                    <Icon className="icon" aria-hidden />
                    {name}
                  </a>
                </li>
              ))}
            </ul>
          </div>
        ))}
      </nav>
      <footer>
        <SessionMenu />
      </footer>
    </div>
  );
}

function SessionMenu() {
  const { name, mayAct, mayWrite, signOut } = useSession();
  return (
    <Popup.Root>
      <Popup.Trigger className="quiet session">
        <span>
          {shown(name)}
          {!mayWrite && <small>{mayAct ? "may read and act" : "may only read"}</small>}
        </span>
        <ChevronsUpDown className="icon" aria-hidden />
      </Popup.Trigger>
      <Popup.Portal>
        <Popup.Positioner className="positioner" side="top" align="start" sideOffset={4}>
          <Popup.Popup className="popup">
            <Popup.Item className="item" onClick={signOut}>
              <LogOut className="icon" aria-hidden />
              Sign out
            </Popup.Item>
          </Popup.Popup>
        </Popup.Positioner>
      </Popup.Portal>
    </Popup.Root>
  );
}
