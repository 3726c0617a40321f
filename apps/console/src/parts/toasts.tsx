/** Notices in a corner, also for screen readers: the finished action, and where to look next. */
import { Toast } from "@base-ui/react/toast";
import { X } from "lucide-react";
import { type ReactNode } from "react";

type Said = { readonly to?: string };

export function Toasts({ children }: { readonly children: ReactNode }) {
  return (
    <Toast.Provider>
      {children}
      <Toast.Portal>
        <Toast.Viewport className="toasts">
          <List />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  );
}

function List() {
  const { toasts, close } = Toast.useToastManager<Said>();
  return toasts.map((toast) => (
    <Toast.Root key={toast.id} toast={toast} className="toast" data-type={toast.type}>
      <Toast.Content>
        <Toast.Title render={<span />} />
        {toast.data?.to !== undefined && (
          <a href={`#${toast.data.to}`} onClick={() => close(toast.id)}>
            Open
          </a>
        )}
      </Toast.Content>
      <Toast.Close className="quiet small icon-only" aria-label="Close">
        <X className="icon" aria-hidden />
      </Toast.Close>
    </Toast.Root>
  ));
}

/** `to`: the page of the result. */
export function useSay(): (text: string, more?: Said & { readonly type?: "bad" }) => void {
  const { add } = Toast.useToastManager<Said>();
  return (text, { type, ...data } = {}) => {
    add({ title: text, data, ...(type && { type, priority: "high" }) });
  };
}
