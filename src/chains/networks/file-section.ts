import { distance } from 'fastest-levenshtein';

/**
 * An unusable value. The message is the end of a sentence that begins with the place of the value.
 */
export class BadValue extends Error {
  override readonly name = 'BadValue';
}

/** Reads the value of a member. */
export interface Reader<T> {
  /** A valid example, as it would be in the file. */
  readonly good: string | number | boolean;
  /** @throws BadValue */
  read(value: unknown): T;
}

/**
 * The largest distance between an unknown name and a known one that it may be a typing error of.
 */
const nearest = 3;

/**
 * A section of a settings file: members by name. Reading never stops at a fault. Each fault is
 * recorded with its place and a valid example, and the example is used in place of the value. So
 * all faults of a file are reported at once. Values are never reported, since any of them may be a
 * secret.
 */
export class FileSection {
  readonly place: string;
  readonly #members: ReadonlyMap<unknown, unknown>;
  readonly #faults: string[];
  readonly #read = new Set<string>();

  /** @param place The path of the section, '' for the whole file. */
  constructor(value: unknown, place: string, faults: string[]) {
    this.place = place;
    this.#faults = faults;
    this.#members = value instanceof Map ? value : new Map();
    if (!(value instanceof Map)) this.#note(place, 'must be a section with members of its own');
    for (const name of this.#members.keys()) {
      if (typeof name !== 'string') this.#note(place, 'has a member whose name is no text; write it in quotes');
    }
  }

  has(name: string): boolean {
    return this.#members.has(name);
  }

  names(): string[] {
    return [...this.#members.keys()].filter((name) => typeof name === 'string');
  }

  required<T>(name: string, reader: Reader<T>): T {
    if (!this.has(name)) {
      this.#read.add(name);
      this.fault(name, 'is missing', reader.good);
      return reader.read(reader.good);
    }
    return this.optional(name, reader, null as T);
  }

  optional<T>(name: string, reader: Reader<T>, fallback: T): T {
    this.#read.add(name);
    if (!this.has(name)) return fallback;
    try {
      return reader.read(this.#members.get(name));
    } catch (error) {
      if (!(error instanceof BadValue)) throw error;
      this.fault(name, error.message, reader.good);
      return reader.read(reader.good);
    }
  }

  /** A section below this one; an empty one when it is missing. */
  section(name: string): FileSection {
    this.#read.add(name);
    return new FileSection(this.has(name) ? this.#members.get(name) : new Map(), this.#at(name), this.#faults);
  }

  list(name: string): FileSection[] {
    this.#read.add(name);
    const value = this.has(name) ? this.#members.get(name) : [];
    if (!Array.isArray(value)) {
      this.#note(this.#at(name), 'must be a list: each item begins with a dash');
      return [];
    }
    return value.map((item, index) => new FileSection(item, `${this.#at(name)}[${index}]`, this.#faults));
  }

  /** Records a fault of a member. */
  fault(name: string, what: string, good?: string | number | boolean): void {
    this.#note(this.#at(name), what, good);
  }

  /** Ends the reading: a member that was not read is a fault. */
  end(): void {
    for (const name of this.names().filter((each) => !this.#read.has(each))) {
      this.fault(name, `is unknown${didYouMean(name, [...this.#read])}`);
    }
  }

  #at(name: string): string {
    return this.place === '' ? name : `${this.place}.${name}`;
  }

  #note(place: string, what: string, good?: string | number | boolean): void {
    const advice = good === undefined ? '' : `; a good value: ${shown(good)}`;
    this.#faults.push(`${place === '' ? 'the file' : place} ${what}${advice}`);
  }
}

/** '; did you mean nodes?', or the known names when none is near. */
export function didYouMean(name: string, known: readonly string[]): string {
  const [best] = known
    .map((candidate) => ({ candidate, far: distance(name.toLowerCase(), candidate.toLowerCase()) }))
    .sort((a, b) => a.far - b.far);
  return best && best.far <= nearest ? `; did you mean ${best.candidate}?` : `; known are ${known.join(', ')}`;
}

/** The example as it is written in the file. Text that reads as a number needs its quotes. */
function shown(good: string | number | boolean): string {
  return typeof good === 'string' && /^(0x|[\d.])/.test(good) ? `'${good}'` : String(good);
}

export function wholeNumber(min: number, max: number, good: number): Reader<number> {
  return {
    good,
    read(value) {
      // A number beyond the safe ones is still a whole one, and is outside the bounds.
      if (!Number.isInteger(value)) throw new BadValue('must be a whole number');
      const number = value as number;
      if (number < min || number > max) throw new BadValue(`must lie between ${min} and ${max}`);
      return number;
    },
  };
}

/** Reads an amount as plain decimal text above 0. A YAML number would go through a binary float. */
export function decimalText(decimals: number, good: string, mayBeZero = false): Reader<string> {
  return {
    good,
    read(value) {
      if (typeof value === 'number') throw new BadValue('must be text, so that no digit is lost: write it in quotes');
      if (typeof value !== 'string' || !/^(0|[1-9]\d{0,19})(\.\d+)?$/.test(value)) {
        throw new BadValue('must be a plain decimal number in quotes');
      }
      if ((value.split('.')[1] ?? '').replace(/0+$/, '').length > decimals) {
        throw new BadValue(`may have at most ${decimals} digits after the point`);
      }
      if (!mayBeZero && /^[0.]*$/.test(value)) throw new BadValue('must be above 0');
      return value;
    },
  };
}

export function oneOf<T extends string>(first: T, ...others: readonly T[]): Reader<T> {
  const values = [first, ...others];
  return {
    good: first,
    read(value) {
      const found = values.find((each) => each === value);
      if (found === undefined) throw new BadValue(`must be one of ${values.join(', ')}`);
      return found;
    },
  };
}

export const flag: Reader<boolean> = {
  good: false,
  read(value) {
    if (typeof value !== 'boolean') throw new BadValue('must be true or false, without quotes');
    return value;
  },
};

export function plainText(good: string): Reader<string> {
  return {
    good,
    read(value) {
      if (typeof value !== 'string' || value === '') throw new BadValue('must be text; write it in quotes');
      if (/[\p{Cc}]/u.test(value)) throw new BadValue('must be one line of text without control characters');
      return value;
    },
  };
}
