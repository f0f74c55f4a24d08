import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Names } from './names.ts';

/** An answer as a client got it. */
export interface Answered {
  /** Null for a message that is no answer. */
  readonly status: number | null;
  readonly headers: Headers;
  readonly text: string;
}

// biome-ignore lint/suspicious/noExplicitAny: answers of many shapes
export type Json = any; // read member by member

export interface TakeOptions {
  /** Parts of the text that follow the machine's clock or its speed, each with what replaces it. */
  readonly moving?: readonly (readonly [form: RegExp, name: string])[];
  /**
   * Sorts lists without a defined order, and removes what follows the machine's speed.
   */
  readonly arrange?: (json: Json) => void;
  /** Whether the body is a file that is the same in every process: nothing in it is replaced. */
  readonly isFile?: boolean;
}

/** Headers of the connection. */
const transport = new Set(['date', 'connection', 'keep-alive', 'transfer-encoding']);
/** The last characters of a key, which are too few to tell random ones. */
const everywhere: readonly (readonly [form: RegExp, name: string])[] = [
  [/"last4":"\w{4}"/g, '"last4":"<last 4>"'],
  [/…\w{4}\b/g, '…<last 4>'],
];
const folder = 'test/nets/recorded';
const mark = '=== ';

/** Whether the run writes the files instead of comparing with them. CI never does. */
export function isRenewing(): boolean {
  const { RECORD: record, CI: ci } = process.env;
  if (record === undefined || record === '') return false;
  if (record !== 'renew') throw new Error(`RECORD is '${record}'; RECORD=renew writes the recording again`);
  if (ci) throw new Error('RECORD=renew is refused in CI: a recording is renewed and reviewed by a person');
  return true;
}

/**
 * The answers of one surface, each with a title. The first word of a title says what was called.
 */
export class Recording {
  readonly #surface: string;
  readonly #names: Names;
  readonly #entries = new Map<string, string>();

  /** @param surface the name of the file. */
  constructor(surface: string, names: Names) {
    this.#surface = surface;
    this.#names = names;
  }

  /** The first words of the titles: what has a recording. */
  get called(): ReadonlySet<string> {
    return new Set([...this.#entries.keys()].map((title) => title.split(' ')[0] ?? ''));
  }

  get titles(): string[] {
    return [...this.#entries.keys()];
  }

  /**
   * Records what was asked and the whole answer.
   *
   * @throws Error for a second entry of the same title, and for a time of the machine.
   */
  take(title: string, asked: string, { status, headers, text }: Answered, options: TakeOptions = {}): void {
    const { moving = [], arrange, isFile = false } = options;
    const length = headers.get('content-length');
    if (length !== null && headers.get('content-encoding') === null && length !== String(Buffer.byteLength(text))) {
      if (text !== '') throw new Error(`${title}: the length of the body is not ${length}`);
    }
    const entry = `${this.#surface}: ${title}`;
    const named = (value: string): string => this.#names.replace(entry, value);
    const lines = [...headers]
      .filter(([name]) => !transport.has(name))
      .map(([name, value]) => `${name}: ${named(steady(name, value))}`);
    const head = [named(asked), ...(status === null ? [] : [status]), ...lines.sort()].join('\n');
    const whole = arrange ? arranged(text, arrange) : text;
    const settled = [...everywhere, ...moving].reduce((done, [form, name]) => done.replaceAll(form, name), whole);
    this.add(title, `${head}\n\n${isFile ? text : named(settled)}`);
  }

  /** Records a text that is no answer to a request, such as a delivery. */
  add(title: string, text: string): void {
    if (this.#entries.has(title)) throw new Error(`there are two entries ${title}`);
    this.#entries.set(title, text);
  }

  /**
   * What differs from the recorded file, an entry each, with the first place. Empty where nothing
   * does. Writes the file where the run renews.
   */
  differences(): string[] {
    const entries = [...this.#entries].sort(([one], [other]) => (one < other ? -1 : 1));
    const file = join(folder, `${this.#surface}.txt`);
    if (isRenewing()) {
      writeFileSync(file, entries.map(([title, text]) => `${mark}${title}\n${text}\n`).join(''));
      return [];
    }
    const recorded = existsSync(file) ? parsed(readFileSync(file, 'utf8')) : new Map<string, string>();
    const gone = [...recorded.keys()].filter((title) => !this.#entries.has(title));
    return [
      ...gone.map((title) => `${title}: is recorded, and was not answered`),
      ...entries.flatMap(([title, text]) => {
        const known = recorded.get(title);
        if (known === undefined) return [`${title}: was answered, and is not recorded`];
        return known === text ? [] : [`${title}: ${firstDifference(known, text)}`];
      }),
    ];
  }
}

/** A JSON text with its lists arranged. Its other bytes stay. */
function arranged(text: string, arrange: (json: Json) => void): string {
  const json: Json = JSON.parse(text);
  if (JSON.stringify(json) !== text.trimEnd()) throw new Error(`this is not compact JSON: ${text.slice(0, 100)}`);
  arrange(json);
  return JSON.stringify(json) + text.slice(text.trimEnd().length);
}

function parsed(file: string): Map<string, string> {
  const entries = `\n${file}`.split(`\n${mark}`).slice(1);
  return new Map(
    entries.map((entry, i) => {
      const end = entry.indexOf('\n');
      // Each entry ends with a line break of the file, which the split took from all but the last.
      const text = entry.slice(end + 1);
      return [entry.slice(0, end), i === entries.length - 1 ? text.replace(/\n$/, '') : text];
    }),
  );
}

/** The first place where two texts differ, with what is around it. */
export function firstDifference(recorded: string, answered: string): string {
  let at = 0;
  while (at < recorded.length && recorded[at] === answered[at]) at++;
  const line = recorded.slice(0, at).split('\n').length;
  const column = at - recorded.lastIndexOf('\n', at - 1);
  const around = (text: string): string =>
    JSON.stringify(`${text.slice(Math.max(0, at - 50), at)}»${text.slice(at, at + 50)}`);
  return `differs at line ${line}, column ${column}\n  recorded: ${around(recorded)}\n  answered: ${around(answered)}`;
}

/** The value of a header without what follows the machine's clock or its speed. */
function steady(name: string, value: string): string {
  switch (name) {
    case 'content-length':
      return '<bytes of the body>';
    case 'ratelimit':
      return value.replace(/r=\d+;t=\d+/, 'r=<left>;t=<seconds>');
    case 'x-ratelimit-remaining':
      return '<left>';
    case 'x-ratelimit-reset':
      return '<second>';
    default:
      return value;
  }
}
