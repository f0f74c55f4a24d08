import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Kinds of random values, in the order in which a text is searched for them. A value that does not
 * look random, such as a destination tag, is announced with `know`.
 */
const kinds: readonly (readonly [kind: string, form: RegExp])[] = [
  ['cursor', /(?<="(?:cursor|startCursor|endCursor|next_cursor)":")[^"]+/g],
  ['cursor', /(?<=^id: ).+$/gm],
  ['key', /\b(?:xp_test_|xp_live_|xs_)[0-9A-Za-z]{12}\.[0-9A-Za-z]{49}\b/g],
  ['key id', /\b(?:xp_test_|xp_live_|xs_)[0-9A-Za-z]{12}\b/g],
  ['code', /\bxe_[\w-]{43}/g],
  ['webhook secret', /\bwhsec_[A-Za-z0-9+/]+=*/g],
  ['signature', /\bv1,[A-Za-z0-9+/]{43}=/g],
  ['quote id', /\bqt_[\w-]{16,}/g],
  ['uuid', /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g],
  ['short id', /\bXP-[0-9A-Z]{6}\b/g],
  // Tags follow from the place of a block of indexes, which other gateways of a database take too.
  ['tag', /(?<="(?:deposit_address_tag|deposit_tag|depositAddressTag)":")\d+(?=")/g],
  ['hex', /(?<="nonce":")[0-9a-f]{16}(?=")/g],
  ['hex', /(?<=data-v=")[0-9a-f]{16}(?=")/g],
  ['hex', /\b(?:0x)?[0-9a-f]{32,}(?:-text)?\b/g],
  // Page tokens, challenges, and addresses.
  ['token', /[\w-]{20,}/g],
];

/** A time as answers have it. */
const timeForm = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;
const dayMs = 86_400_000;

/**
 * Names for random values. A value is named after the first entry that has it and its number there.
 * A later entry with the same value shows the same name. A new entry changes no name of the
 * others. What the sources or the caller spell out is not random and stays as it is.
 */
export class Names {
  readonly #spelled: string;
  readonly #names = new Map<string, { readonly name: string; readonly entry: string }>();
  readonly #known = new Map<string, string>();
  readonly #fixed = new Set<string>();
  readonly #counts = new Map<string, number>();

  /** @param fixed Values that look random, and are the same in each run. */
  constructor(fixed: readonly string[]) {
    this.#spelled = sources();
    for (const value of fixed) this.#fixed.add(value);
  }

  /** Gives a value a name. It is replaced wherever it is a word. */
  know(value: string, name: string): void {
    this.#known.set(value, `<${name}>`);
  }

  /**
   * The text of an entry with names in place of random values.
   *
   * @throws Error for a time of the machine's clock: an answer must have the times of the test's
   *   clock, or its entry must say which members have others.
   */
  replace(entry: string, text: string): string {
    let parts: Part[] = [{ text, isDone: false }];
    for (const [value, name] of this.#known) {
      if (text.includes(value)) parts = replaced(parts, wordOf(value), () => name);
    }
    for (const [kind, form] of kinds) parts = replaced(parts, form, (value) => this.#nameOf(entry, kind, value));
    const done = parts.map((part) => part.text).join('');
    for (const [time] of done.matchAll(timeForm)) {
      if (Math.abs(Date.parse(time) - Date.now()) < dayMs) {
        throw new Error(`${entry}: ${time} is a time of the machine, after ${before(done, time)}`);
      }
    }
    return done;
  }

  #nameOf(entry: string, kind: string, value: string): string {
    if (this.#fixed.has(value) || this.#spelled.includes(value)) return value;
    const known = this.#names.get(value);
    if (known) return known.entry === entry ? `<${known.name}>` : `<${known.name} of ${known.entry}>`;
    const count = (this.#counts.get(`${entry} ${kind}`) ?? 0) + 1;
    this.#counts.set(`${entry} ${kind}`, count);
    const name = `${kind} ${count}`;
    this.#names.set(value, { name, entry });
    return `<${name}>`;
  }
}

interface Part {
  readonly text: string;
  readonly isDone: boolean;
}

/** Replaces matches in the parts that are not done. A replacement is done. */
function replaced(parts: readonly Part[], form: RegExp, nameOf: (value: string) => string): Part[] {
  return parts.flatMap((part) => {
    if (part.isDone) return [part];
    const pieces: Part[] = [];
    let end = 0;
    for (const match of part.text.matchAll(form)) {
      pieces.push({ text: part.text.slice(end, match.index), isDone: false });
      pieces.push({ text: nameOf(match[0]), isDone: true });
      end = match.index + match[0].length;
    }
    return end === 0 ? [part] : [...pieces, { text: part.text.slice(end), isDone: false }];
  });
}

const wordOf = (value: string): RegExp =>
  new RegExp(`(?<![0-9A-Za-z])${value.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?![0-9A-Za-z])`, 'g');

const before = (text: string, part: string): string => text.slice(0, text.indexOf(part)).slice(-60);

/** All that the sources and the contracts spell out. */
function sources(): string {
  const files = readdirSync('src', { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile() && file.name.endsWith('.ts'))
    .map((file) => join(file.parentPath, file.name));
  return [...files, 'openapi.yaml', 'cabinet-openapi.yaml'].map((file) => readFileSync(file, 'utf8')).join('\n');
}
