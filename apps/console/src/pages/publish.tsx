/** Publishes a message or makes a schedule, with every setting. Also repeats an earlier one with changes. */
import { part, useSearch } from "../address.ts";
import { useAsked } from "../api/asked.ts";
import { useSession } from "../api/session.ts";
import { Page } from "../parts/page.tsx";
import { Trouble } from "../parts/trouble.tsx";
import { ofBase64, ofText } from "../parts/body.tsx";
import { lettersIn } from "../rules/letters.ts";
import { publicationOf } from "../rules/publication.ts";

import { SendForm } from "./send-form.tsx";

export function PublishForm() {
  const { mayWrite } = useSession();
  const [search] = useSearch();
  const letter = search.get("letter");
  const message = search.get("message");
  if (!mayWrite) return <MayNot title="Publish" />;
  if (letter !== null) return <OfLetter id={letter} />;
  if (message !== null) return <OfMessage id={message} />;
  return (
    <Page title="Publish">
      <SendForm />
    </Page>
  );
}

/** Makes a new schedule, or changes the one in the address. */
export function ScheduleForm() {
  const { mayWrite } = useSession();
  const [search] = useSearch();
  const id = search.get("schedule");
  if (!mayWrite) return <MayNot title="Schedule" />;
  if (id !== null) return <OfSchedule id={id} />;
  return (
    <Page title="New schedule">
      <SendForm isSchedule />
    </Page>
  );
}

const MayNot = ({ title }: { readonly title: string }) => (
  <Page title={title}>
    <p className="notice">This token cannot publish.</p>
  </Page>
);

type OfProps = { readonly id: string };

function OfLetter({ id }: OfProps) {
  const query = { dlqIds: id, count: 1 };
  const { data, error } = useAsked({ id: "listDeadLetters", query }, { fresh: "once" });
  const [letter] = lettersIn(data) ?? [];
  return (
    <Page title="Send again">
      <Trouble error={error} />
      {data !== undefined && letter === undefined && (
        <p className="notice">This dead letter no longer exists.</p>
      )}
      {letter !== undefined && (
        <SendForm
          letterId={id}
          of={publicationOf(letter, ofText(letter.body, letter.bodyBase64, Infinity))}
        />
      )}
    </Page>
  );
}

function OfMessage({ id }: OfProps) {
  const query = { messageId: id, count: 1 };
  const { data, error } = useAsked({ id: "listEvents", query }, { fresh: "once" });
  const event = data?.events[0];
  const body = event?.body === undefined ? undefined : ofBase64(event.body, Infinity);
  return (
    <Page title="Send again">
      <Trouble error={error} />
      {data !== undefined && event === undefined && (
        <p className="notice">The log has no message with this id.</p>
      )}
      {event !== undefined && <SendForm of={publicationOf(event, body)} isBodyKnown={!!body} />}
    </Page>
  );
}

function OfSchedule({ id }: OfProps) {
  const { data, error } = useAsked({ id: "readSchedule", params: [id] }, { fresh: "once" });
  return (
    <Page title="Edit schedule">
      <Trouble error={error} />
      {data !== undefined && (
        <SendForm
          isSchedule
          of={publicationOf(data, ofText(data.body, data.bodyBase64, Infinity))}
        />
      )}
      <p>
        <a href={`#/schedules/${part(id)}`}>Back to the schedule</a>
      </p>
    </Page>
  );
}
