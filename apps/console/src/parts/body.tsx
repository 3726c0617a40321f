/** Shows a body as it was sent, or formatted. A partial body says so. */
import { type ReactNode, useState } from "react";
import { decoded, shown } from "../api/text.ts";
import { CopyButton } from "./copy.tsx";

/** `isCut`: the text ends here because no more was asked for. */
export type BodyText = {
  readonly text: string;
  readonly isBinary: boolean;
  readonly isCut: boolean;
};

/** A redacted body is its hash, not in base64. */
export const ofBase64 = (base64: string, bytesMax: number): BodyText =>
  base64.startsWith("REDACTED:")
    ? { text: base64, isBinary: false, isCut: false }
    : { ...decoded(base64), isCut: (base64.length * 3) / 4 >= bytesMax };

/** `bytesMax`: the bytes that were asked for. */
export const ofText = (
  text: string | undefined,
  base64: string | undefined,
  bytesMax: number,
): BodyText | undefined => {
  if (text !== undefined) {
    const isCut = new TextEncoder().encode(text).length > bytesMax - charBytesMax;
    return { text, isBinary: false, isCut };
  }
  return base64 === undefined ? undefined : { ...ofBase64(base64, bytesMax), isBinary: true };
};

/** A text is cut at a character's boundary. */
const charBytesMax = 4;
/** The most that a browser lays out without a pause. */
const charsMax = 200_000;

type Props = {
  readonly title: string;
  readonly body: BodyText | undefined;
  readonly more?: () => void;
  readonly none?: ReactNode;
};

export function Body({ title, body, more, none = "none" }: Props) {
  const [isFormatted, setFormatted] = useState(true);
  const formatted = body && !body.isBinary && !body.isCut ? formattedJson(body.text) : undefined;
  const text = isFormatted && formatted !== undefined ? formatted : (body?.text ?? "");
  return (
    <section className="body" aria-label={title}>
      <header>
        <strong>{title}</strong>
        {body === undefined && <span>{none}</span>}
        {body?.isBinary && <span>not text: base64</span>}
        {body !== undefined && (
          <span className="buttons">
            {formatted !== undefined && (
              <button
                type="button"
                className="quiet small"
                onClick={() => setFormatted(!isFormatted)}
              >
                {isFormatted ? "As it was sent" : "Formatted"}
              </button>
            )}
            <CopyButton text={body.text} name={`Copy: ${title}`} />
          </span>
        )}
      </header>
      {body !== undefined && (
        <pre tabIndex={0} role="region" aria-label={`${title}, text`}>
          {shown(text, charsMax)}
        </pre>
      )}
      {body?.isCut && (
        <p className="muted">
          Cut here.{" "}
          {more && (
            <button type="button" className="small" onClick={more}>
              Show all
            </button>
          )}
        </p>
      )}
    </section>
  );
}

function formattedJson(text: string): string | undefined {
  if (!/^\s*[[{]/.test(text) || text.length > charsMax) return undefined;
  try {
    const formatted = JSON.stringify(JSON.parse(text), undefined, 2);
    return formatted === text ? undefined : formatted;
  } catch {
    return undefined;
  }
}
