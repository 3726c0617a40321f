import cronstrue from "cronstrue";
import { shown } from "../api/text.ts";

export function Cron({ cron }: { readonly cron: string }) {
  return (
    <span>
      {wordsOfCron(cron)} <code className="muted">{shown(cron)}</code>
    </span>
  );
}

const zoned = /^CRON_TZ=(\S+)\s+/;

export function wordsOfCron(cron: string): string {
  const zone = zoned.exec(cron)?.[1] ?? "UTC";
  try {
    const words = cronstrue.toString(cron.replace(zoned, ""), { use24HourTimeFormat: true });
    return `${words} (${zone})`;
  } catch {
    return "";
  }
}
