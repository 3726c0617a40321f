/** The form before everything else. */
import { textIn } from "./form.ts";

export type SignInField = {
  readonly label: string;
  readonly isSecret: boolean;
  /** What a password manager fills in. */
  readonly autoComplete: string;
};

type Props = {
  readonly fields: readonly SignInField[];
  readonly trouble: string | undefined;
  readonly onGiven: (values: readonly string[]) => void;
};

export function SignIn({ fields, trouble = "", onGiven }: Props) {
  return (
    <main className="gate">
      <h1>Posthaste</h1>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const form = new FormData(event.currentTarget);
          onGiven(fields.map(({ label }) => textIn(form, label)));
        }}
      >
        {fields.map(({ label, isSecret, autoComplete }, nth) => (
          <label key={label}>
            {label}
            <input
              name={label}
              type={isSecret ? "password" : "text"}
              autoComplete={autoComplete}
              autoFocus={nth === 0}
              required
            />
          </label>
        ))}
        <button type="submit" className="primary">
          Sign in
        </button>
      </form>
      {trouble !== "" && (
        <p role="alert" className="trouble">
          {trouble}
        </p>
      )}
    </main>
  );
}
