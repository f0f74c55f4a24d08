/**
 * How values are written for people. Amounts stay text: they are cut where space is short, and
 * never rounded.
 */

const exact = /^(-?)(\d+)(?:\.(\d+))?$/;

/** The sum of exact decimals, as an exact decimal. A text that is no decimal is refused. */
export function sumOf(amounts: readonly string[]): string {
  const parts = amounts.map(partsOf);
  const digits = Math.max(0, ...parts.map(({ fraction }) => fraction.length));
  const total = parts.reduce(
    (sum, { sign, whole, fraction }) => sum + BigInt(`${sign}${whole}${fraction.padEnd(digits, '0')}`),
    0n,
  );
  const text = (total < 0n ? -total : total).toString().padStart(digits + 1, '0');
  const fraction = text.slice(text.length - digits).replace(/0+$/, '');
  const whole = text.slice(0, text.length - digits);
  return `${total < 0n ? '-' : ''}${whole}${digits > 0 && fraction !== '' ? `.${fraction}` : ''}`;
}

/** Whole US dollars with separators; cents are cut off. */
export function usd(amount: string): string {
  const { sign, whole } = partsOf(amount);
  return `${sign}$${grouped(whole)}`;
}

/** A number of things with separators. */
export function count(value: number): string {
  return grouped(String(value));
}

/** A place on an axis: '12k' for 12,000. For plots only, as it may cut digits. */
export function compact(value: number): string {
  const short = (number: number): string => String(Number(number.toPrecision(6)));
  if (Math.abs(value) >= 1_000_000) return `${short(value / 1_000_000)}M`;
  return Math.abs(value) >= 1_000 ? `${short(value / 1_000)}k` : short(value);
}

/** An amount with at most this many decimals; an ellipsis says that digits were cut. */
export function cut(amount: string, decimals = 8): string {
  const { sign, whole, fraction } = partsOf(amount);
  if (fraction.length <= decimals) return amount;
  return `${sign}${whole}.${fraction.slice(0, decimals)}…`;
}

/** A fraction as a percentage, exactly: '0.005' is '0.5 %'. */
export function percent(fraction: string): string {
  const { sign, whole, fraction: digits } = partsOf(fraction);
  const padded = digits.padEnd(2, '0');
  const rest = padded.slice(2).replace(/0+$/, '');
  const before = `${whole}${padded.slice(0, 2)}`.replace(/^0+(?=\d)/, '');
  return `${sign}${before}${rest === '' ? '' : `.${rest}`} %`;
}

/** By how many percent a value differs from an earlier one; null without an earlier one. */
export function changeOf(now: string, before: string): number | null {
  const [current, earlier] = [partsOf(now), partsOf(before)].map(({ sign, whole }) => BigInt(`${sign}${whole}`));
  if (current === undefined || earlier === undefined || earlier === 0n) return null;
  return Number(((current - earlier) * 1000n) / earlier) / 10;
}

/** '2026-11-22 10:02:25', in UTC. */
export function utc(at: string): string {
  return `${at.slice(0, 10)} ${at.slice(11, 19)}`;
}

/** The same moment by the clock of this machine. */
export function local(at: string): string {
  return new Date(at).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'long' });
}

const units = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const;

/** A length of time in its largest units, two unless given: '3 h 12 min'. */
export function duration(seconds: number, most = 2): string {
  let rest = Math.max(0, Math.floor(seconds));
  const parts: string[] = [];
  for (const [unit, length] of units) {
    if (rest < length && !(unit === 's' && parts.length === 0)) {
      if (parts.length > 0) break;
      continue;
    }
    parts.push(`${Math.floor(rest / length)} ${unit}`);
    rest %= length;
    if (parts.length === most || rest === 0) break;
  }
  return parts.join(' ');
}

const acronyms = /\b(?:api|csv|dns|http|https|id|ip|tcp|tls|url|usd|utc)\b/g;

/** 'PAYOUT_HOLD' as 'payout hold', and 'dns' as 'DNS': the words of a name in a sentence. */
export function phrase(name: string): string {
  return name
    .toLowerCase()
    .replaceAll('_', ' ')
    .replace(acronyms, (word) => word.toUpperCase());
}

/** 'WAITING_DEPOSIT' as 'Waiting deposit': the words of a name as a label. */
export function words(name: string): string {
  const text = phrase(name);
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The beginning and the end of an address or a hash. */
export function ends(text: string, length = 8): string {
  return text.length <= 2 * length + 1 ? text : `${text.slice(0, length)}…${text.slice(-length)}`;
}

function grouped(digits: string): string {
  return digits.replace(/\B(?=(?:\d{3})+$)/g, ',');
}

function partsOf(amount: string): { sign: string; whole: string; fraction: string } {
  const found = exact.exec(amount);
  if (!found) throw new Error(`'${amount}' is no exact decimal`);
  return { sign: found[1] ?? '', whole: found[2] ?? '0', fraction: found[3] ?? '' };
}
