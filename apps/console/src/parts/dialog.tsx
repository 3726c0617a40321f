import { AlertDialog } from "@base-ui/react/alert-dialog";
import { Dialog } from "@base-ui/react/dialog";
import { X } from "lucide-react";
import { type ReactNode } from "react";

type SureProps = {
  readonly isOpen: boolean;
  readonly title: string;
  readonly children?: ReactNode;
  /** The button's label, and its name for screen readers. */
  readonly does: string;
  readonly name: string;
  readonly act: () => void;
  readonly keep: () => void;
};

/** Confirms an action that cannot be undone. */
export function Sure({ isOpen, title, children, does, name, act, keep }: SureProps) {
  return (
    <AlertDialog.Root open={isOpen} onOpenChange={(open) => !open && keep()}>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className="backdrop" />
        <AlertDialog.Popup className="dialog">
          <AlertDialog.Title>{title}</AlertDialog.Title>
          <AlertDialog.Description className="muted">
            {children ?? "This cannot be undone."}
          </AlertDialog.Description>
          <div className="buttons">
            <AlertDialog.Close>Keep</AlertDialog.Close>
            <button type="button" className="danger primary" aria-label={name} onClick={act}>
              {does}
            </button>
          </div>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}

type SheetProps = {
  readonly title: string;
  readonly close: () => void;
  readonly isWide?: boolean;
  readonly children: ReactNode;
};

/** A form in a dialog, open while rendered. Closing loses the typed text, so a click beside the dialog does not close it. */
export function Sheet({ title, close, isWide = false, children }: SheetProps) {
  return (
    <Dialog.Root open disablePointerDismissal onOpenChange={(open) => !open && close()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className={isWide ? "dialog wide" : "dialog"}>
          <div className="heading">
            <Dialog.Title>{title}</Dialog.Title>
            <Dialog.Close className="quiet icon-only" aria-label="Close">
              <X className="icon" aria-hidden />
            </Dialog.Close>
          </div>
          {children}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
