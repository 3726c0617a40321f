/** An empty list, with the call that makes its first element. */
import { type ReactNode } from "react";
import { Call } from "./copy.tsx";

type Props = {
  readonly title: string;
  readonly children?: ReactNode;
  readonly curl?: string;
};

export function Empty({ title, children, curl }: Props) {
  return (
    <div className="empty" role="status">
      <strong>{title}</strong>
      {children}
      {curl !== undefined && <Call curl={curl} />}
    </div>
  );
}
