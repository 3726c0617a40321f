/** Dates of HTTP headers, in the three forms that recipients must accept by RFC 9110, 5.6.7. */

/** Returns Unix milliseconds, or undefined for text of none of the forms. `now` decides the century of a two-digit year. */
export function parseHttpDate(text: string, now: number): number | undefined {
  const parts = forms.map((form) => form.exec(text)).find((match) => match !== null)?.groups;
  if (parts === undefined) return undefined;
  const { year = "", month = "", day = "", time = "" } = parts;
  const [hour = 0, minute = 0, second = 0] = time.split(":").map(Number);
  // A leap second, 60, is read as the first second of the next minute.
  if (hour > 23 || minute > 59 || second > 60) return undefined;
  const inYear = (fullYear: number): number | undefined => {
    const date = new Date(0);
    date.setUTCFullYear(fullYear, months.indexOf(month), Number(day));
    if (date.getUTCDate() !== Number(day)) return undefined;
    return date.setUTCHours(hour, minute, second);
  };
  return year.length === 4 ? inYear(Number(year)) : latest(Number(year), inYear, now);
}

/** Returns the latest year that ends with these digits and puts the date no more than fifty years ahead. */
function latest(
  digits: number,
  inYear: (fullYear: number) => number | undefined,
  now: number,
): number | undefined {
  const limit = new Date(now);
  limit.setUTCFullYear(limit.getUTCFullYear() + 50);
  const year = limit.getUTCFullYear() - (limit.getUTCFullYear() % 100) + digits;
  const at = inYear(year);
  return at !== undefined && at > limit.getTime() ? inYear(year - 100) : at;
}

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const month = `(?<month>${months.join("|")})`;
const time = String.raw`(?<time>\d\d:\d\d:\d\d)`;
const shortDay = "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)";
const longDay = "(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day";

const forms: readonly RegExp[] = [
  String.raw`${shortDay}, (?<day>\d\d) ${month} (?<year>\d{4}) ${time} GMT`,
  String.raw`${longDay}, (?<day>\d\d)-${month}-(?<year>\d\d) ${time} GMT`,
  String.raw`${shortDay} ${month} (?<day>[ \d]\d) ${time} (?<year>\d{4})`,
].map((form) => new RegExp(`^${form}$`));
