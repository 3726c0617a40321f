/** The form of a publish and of a schedule. Shows the request as curl while it is filled in. */
import { useRef, useState } from "react";
import { part } from "../address.ts";
import { useChange, useSend } from "../api/asked.ts";
import { apiBase } from "../api/call.ts";
import { shown } from "../api/text.ts";
import { Call } from "../parts/copy.tsx";
import { FaultyForm, Inputs } from "../parts/fields.tsx";
import { textIn } from "../parts/form.ts";
import { Inside, Panel } from "../parts/page.tsx";
import { useSay } from "../parts/toasts.tsx";
import { curlOf } from "../rules/curl.ts";
import {
  headersOf,
  pairsIn,
  type Publication,
  retryOf,
  type Sending,
} from "../rules/publication.ts";
import { wordsOfCron } from "../parts/cron.tsx";
import { groupsOfInputs, messageInputs } from "./send-inputs.ts";

type Props = {
  readonly of?: Publication;
  readonly isSchedule?: boolean;
  /** The dead letter that the publish replaces. */
  readonly letterId?: string;
  /** False for a message whose body is no longer kept. */
  readonly isBodyKnown?: boolean;
};

const raw = (form: FormData, name: string): string => {
  const value = form.get(name);
  return typeof value === "string" ? value : "";
};

export function SendForm({ of, isSchedule = false, letterId, isBodyKnown = true }: Props) {
  const say = useSay();
  const form = useRef<HTMLFormElement>(null);
  const groups = groupsOfInputs(of, isSchedule);
  const { first = [], rest = [] } = Object.groupBy(groups, ({ isFirst }) =>
    isFirst ? "first" : "rest",
  );
  const inputs = [...messageInputs(of), ...groups.flatMap((group) => group.inputs)];
  const names = groups.flatMap((group) => group.inputs.map(({ name }) => name));
  const read = (given: FormData): Publication => ({
    destination: textIn(given, "destination"),
    body: raw(given, "body"),
    contentType: textIn(given, "contentType"),
    forwarded: pairsIn(raw(given, "forwarded")),
    settings: Object.fromEntries(names.map((name) => [name, textIn(given, name)])),
    missing: [],
  });
  const [isTaking, setTaking] = useState(letterId !== undefined);
  const initial = of ?? { ...nothing, contentType: "application/json" };
  const retried = (made: Publication): Sending | undefined =>
    isTaking && letterId !== undefined ? retryOf(letterId, initial, made) : undefined;
  const sent = (made: Publication): Sending =>
    retried(made) ?? {
      path: `${isSchedule ? "schedules" : "publish"}/${made.destination}`,
      headers: headersOf(made),
      body: made.body,
    };
  const [now, setNow] = useState<Publication>(initial);
  const letter = useChange<"removeDeadLetter">({ leaveTo: () => undefined });
  const { mutate, isPending, error } = useSend(placeOf, {
    leaveTo: (to) => to,
    onDone: (to) => {
      // A retry removes the letter itself.
      if (isTaking && letterId !== undefined && retried(now) === undefined)
        letter.mutate({ id: "removeDeadLetter", params: [letterId] });
      say(isSchedule ? "The schedule was saved." : "The message was accepted.", { to });
    },
  });
  const { path, headers, body } = sent(now);
  const curl = curlOf({ method: "POST", url: `${apiBase().href}${path}`, headers, body });
  return (
    <div className="columns">
      <Panel title={isSchedule ? "Schedule" : "Message"}>
        <Inside>
          <Missing
            names={[...(of?.missing ?? []), ...(isBodyKnown ? [] : ["body"])]}
            isKept={retried(now) !== undefined}
          />
          <FaultyForm
            name={isSchedule ? "Schedule" : "Message"}
            formRef={form}
            inputs={inputs}
            error={error}
            onChange={(given) => setNow(read(given))}
            onGiven={(given) => mutate(sent(read(given)))}
          >
            <div className="fields">
              <Inputs inputs={[...first.flatMap((group) => group.inputs), ...messageInputs(of)]} />
            </div>
            {rest.map(({ title, inputs: own, isSeldom }) =>
              isSeldom ? (
                <details
                  key={title}
                  open={own.some(({ initial: text }) => text !== undefined) || undefined}
                >
                  <summary>{title}</summary>
                  <div className="fields">
                    <Inputs inputs={own} />
                  </div>
                </details>
              ) : (
                <div key={title} className="fields">
                  <Inputs inputs={own} />
                </div>
              ),
            )}
            {letterId !== undefined && (
              <label>
                <input
                  type="checkbox"
                  checked={isTaking}
                  onChange={({ currentTarget }) => setTaking(currentTarget.checked)}
                />{" "}
                Remove the dead letter when this message is accepted
              </label>
            )}
            <div className="buttons">
              <button type="submit" className="primary" disabled={isPending}>
                {isSchedule ? "Save schedule" : "Publish message"}
              </button>
              {isSchedule && (
                <span className="muted">{shown(wordsOfCron(now.settings.cron ?? ""))}</span>
              )}
            </div>
          </FaultyForm>
        </Inside>
      </Panel>
      <Panel title="As curl">
        <Inside>
          <Call curl={curl} />
        </Inside>
      </Panel>
    </div>
  );
}

const nothing: Publication = {
  destination: "",
  body: "",
  contentType: "",
  forwarded: [],
  settings: {},
  missing: [],
};

type MissingProps = { readonly names: readonly string[]; readonly isKept: boolean };

function Missing({ names, isKept }: MissingProps) {
  if (names.length === 0) return null;
  const listed = shown(names.join(", "), 500);
  return (
    <p className="notice busy">
      <span className="why">Some fields cannot be shown</span>
      {isKept
        ? `These fields are redacted or not text, and are sent unchanged unless you fill them in: ${listed}.`
        : `These fields are redacted, not text, or no longer kept: ${listed}. Fill them in again if they are needed.`}
    </p>
  );
}

/** Returns the page of the result. For a group that is the first message's. */
function placeOf(answer: unknown): string {
  const [first] = [answer].flat();
  const { messageId, scheduleId } = Object(first) as {
    readonly messageId?: unknown;
    readonly scheduleId?: unknown;
  };
  if (typeof scheduleId === "string") return `/schedules/${part(scheduleId)}`;
  return typeof messageId === "string" ? `/messages/${part(messageId)}` : "/messages";
}
