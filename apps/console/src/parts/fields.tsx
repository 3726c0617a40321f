/** The fields of a form. The API's fault is shown beside its field, and typed text stays. */
import { Field } from "@base-ui/react/field";
import { Form } from "@base-ui/react/form";
import { type ReactNode, type RefObject, useMemo } from "react";
import { type Refused } from "../api/call.ts";
import { type Faulty, faultsOf } from "../rules/faults.ts";
import { Undone } from "./trouble.tsx";

export type Input = Faulty & {
  readonly label: string;
  readonly hint?: string;
  readonly kind?: "text" | "number" | "area" | readonly (readonly [value: string, label: string])[];
  readonly initial?: string | number | undefined;
  readonly isWide?: boolean;
  readonly rows?: number;
  readonly isRequired?: boolean;
};

type FormProps = {
  readonly name: string;
  readonly inputs: readonly Input[];
  readonly error: Refused | null;
  readonly onGiven: (form: FormData) => void;
  readonly onChange?: (form: FormData) => void;
  readonly formRef?: RefObject<HTMLFormElement | null>;
  readonly className?: string;
  readonly children: ReactNode;
};

/** `inputs`: all fields of the form, wherever its children render them. */
export function FaultyForm(props: FormProps) {
  const { name, inputs, error, onGiven, onChange, formRef, className = "form", children } = props;
  // The same object for the same refusal, so that the form clears a field's fault when the field changes.
  const { errors, rest } = useMemo(() => faultsOf(error?.message, inputs), [error]);
  return (
    <Form
      ref={formRef}
      aria-label={name}
      className={className}
      errors={errors}
      onChange={({ currentTarget }) => onChange?.(new FormData(currentTarget))}
      onSubmit={(event) => {
        event.preventDefault();
        onGiven(new FormData(event.currentTarget));
      }}
    >
      {children}
      {rest !== undefined && <Undone error={error} />}
    </Form>
  );
}

export const Inputs = ({ inputs }: { readonly inputs: readonly Input[] }) =>
  inputs.map((input) => <InputField key={input.name} input={input} />);

function InputField({ input }: { readonly input: Input }) {
  const {
    name,
    label,
    hint,
    kind = "text",
    initial = "",
    isWide,
    isRequired = false,
    rows = 6,
  } = input;
  const plain = { autoComplete: "off", spellCheck: false };
  return (
    <Field.Root name={name} className={isWide ? "field wide" : "field"}>
      <Field.Label>{label}</Field.Label>
      {kind === "text" || kind === "number" ? (
        <Field.Control type={kind} defaultValue={initial} required={isRequired} {...plain} />
      ) : kind === "area" ? (
        <Field.Control
          render={<textarea rows={rows} {...plain} />}
          defaultValue={initial}
          required={isRequired}
        />
      ) : (
        <Field.Control render={<select>{kind.map(optionOf)}</select>} defaultValue={initial} />
      )}
      {hint !== undefined && <Field.Description className="hint">{hint}</Field.Description>}
      <Field.Error className="trouble" />
    </Field.Root>
  );
}

const optionOf = ([value, label]: readonly [value: string, label: string]) => (
  <option key={value} value={value}>
    {label}
  </option>
);
