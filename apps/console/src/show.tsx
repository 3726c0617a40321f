import { CSPProvider } from "@base-ui/react/csp-provider";
import { type ReactNode, StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Toasts } from "./parts/toasts.tsx";
import "./styles/base.css";
import "./styles/frame.css";
import "./styles/controls.css";
import "./styles/parts.css";
import "./styles/pages.css";

export function show(app: ReactNode): void {
  const place = document.getElementById("console");
  if (!place) return;
  // The page's policy refuses style elements.
  createRoot(place).render(
    <StrictMode>
      <CSPProvider disableStyleElements>
        <Toasts>{app}</Toasts>
      </CSPProvider>
    </StrictMode>,
  );
}
