/** The sign-in form, before everything else or above a page whose session has expired. */
import { Dialog } from "@base-ui/react/dialog";
import { useEffect, useState } from "react";
import { shown, wordsOf } from "../api/text.ts";
import { textIn } from "./form.ts";

export type SignInField = {
  readonly label: string;
  readonly isSecret: boolean;
  readonly autoComplete: string;
};

type Props = {
  readonly fields: readonly SignInField[];
  readonly provider: string | undefined;
  readonly trouble: string | undefined;
  readonly onGiven: (values: readonly string[]) => void;
};

export function SignIn(props: Props) {
  return (
    <main className="gate">
      <h1>Posthaste</h1>
      <Form {...props} />
    </main>
  );
}

type FormProps = Props & { readonly target?: string };

type AgainProps = {
  readonly fields: readonly SignInField[];
  readonly provider: string | undefined;
  /** Throws the reason for a refusal. */
  readonly check: (values: readonly string[]) => Promise<unknown>;
  /** Goes on with a session that another tab began. */
  readonly look: () => Promise<unknown>;
  readonly leave: () => void;
};

export function SignInAgain({ fields, provider, check, look, leave }: AgainProps) {
  const [trouble, setTrouble] = useState("");
  useEffect(() => {
    const onFocus = (): void => void look().catch(() => undefined);
    addEventListener("focus", onFocus);
    return () => removeEventListener("focus", onFocus);
  }, [look]);
  return (
    <Dialog.Root open disablePointerDismissal>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="dialog">
          <Dialog.Title>Sign in again</Dialog.Title>
          <Dialog.Description className="muted">
            Your session has ended. What you typed into the page is still there.
          </Dialog.Description>
          <Form
            fields={fields}
            provider={provider}
            // Opens another tab, so that typed text stays in this one.
            target="_blank"
            trouble={trouble}
            onGiven={(values) => {
              check(values).catch((reason: unknown) => setTrouble(wordsOf(reason)));
            }}
          />
          <button type="button" className="quiet" onClick={leave}>
            Sign out
          </button>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function Form({ fields, provider, target, trouble = "", onGiven }: FormProps) {
  return (
    <>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          const form = new FormData(event.currentTarget);
          onGiven(fields.map(({ label }) => textIn(form, label)));
        }}
      >
        {fields.map(({ label, isSecret, autoComplete }, nth) => (
          <div key={label} className="field">
            <label htmlFor={`sign-in-${label}`}>{label}</label>
            <input
              id={`sign-in-${label}`}
              name={label}
              type={isSecret ? "password" : "text"}
              autoComplete={autoComplete}
              autoFocus={nth === 0}
              required
            />
          </div>
        ))}
        <button type="submit" className="primary">
          Sign in
        </button>
      </form>
      {provider !== undefined && (
        <a className="button" href="sign-in" target={target}>
          Sign in with {shown(provider)}
        </a>
      )}
      {trouble !== "" && (
        <p role="alert" className="trouble">
          {trouble}
        </p>
      )}
    </>
  );
}
