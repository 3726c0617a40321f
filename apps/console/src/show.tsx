/** Puts an application into the page. */
import { type ReactNode, StrictMode } from "react";
import { createRoot } from "react-dom/client";
import "./styles/base.css";
import "./styles/frame.css";
import "./styles/parts.css";
import "./styles/pages.css";

export function show(app: ReactNode): void {
  const place = document.getElementById("console");
  if (place) createRoot(place).render(<StrictMode>{app}</StrictMode>);
}
