import type { Dice } from '../support/gateway/dice.ts';

/** As much of JSON Schema as the contract's requests use. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  /** A schema that this one extends, or conditions on the members of an object. */
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  /** A schema for members of any name. */
  readonly additionalProperties?: boolean | Schema;
  /** Members of which exactly one way must be there. */
  readonly oneOf?: readonly { readonly required: readonly string[] }[];
  /**
   * A condition: without the members of `not`, those of `then` are required. With the member of
   * `required`, those of `then` are forbidden.
   */
  readonly if?: {
    readonly required?: readonly string[];
    readonly not?: { readonly required?: readonly string[]; readonly anyOf?: readonly Schema[] };
  };
  readonly then?: { readonly required?: readonly string[]; readonly properties?: Readonly<Record<string, false>> };
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly exclusiveMinimum?: number;
  readonly format?: string;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minProperties?: number;
}

/** A value that breaks a schema, as JSON text, and how a request with it is answered. */
export interface Wrong {
  readonly text: string;
  /** 400 for another shape, 422 for a value of the right shape that is refused. */
  readonly status: 400 | 422;
}

/**
 * What strings are made of: what people type, and what breaks parsers, databases, logs and
 * terminals.
 */
const alphabets: readonly string[] = [
  'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789',
  ' "\\/{}[]()<>%&=?#+,;:!|~^`$*@\'-_.',
  '\u0000\u0001\u0007\b\t\n\r\u001b\u007f\u0085\u2028\ufeff',
  'äßñ漢字🚀\u0301\u200f\u202e\ud800\udfff',
];

/** Strings with a special meaning to some parser. */
const notorious: readonly string[] = [
  '__proto__',
  'constructor',
  "' or 1=1 --",
  '$' + '{7*7}',
  '../../etc/passwd',
  '%00',
  'null',
  'NaN',
  '1e1000000',
  '<script>alert(1)</script>',
  'BTC\u0000',
  'BTC ',
  'btc',
];

/** Makes values of schemas, right or wrong by construction. */
export class SchemaValues {
  readonly #dice: Dice;

  constructor(dice: Dice) {
    this.#dice = dice;
  }

  /** A value that the schema allows, as JSON text. */
  valid(schema: Schema): string {
    const { allOf, anyOf, enum: choices, minimum = 0, maximum = 100 } = schema;
    if (anyOf) return this.valid(this.#dice.pick(anyOf));
    if (allOf?.[0] && !allOf[0].if) return this.valid(allOf[0]);
    if (choices) return JSON.stringify(this.#dice.pick(choices));
    switch (this.#typeOf(schema)) {
      case 'number':
        return this.#number();
      case 'array': {
        const { items = { type: 'string' }, minItems = 0, maxItems = 5 } = schema;
        const length = Math.floor(this.#dice.between(minItems, Math.min(maxItems, 8) + 1));
        return `[${Array.from({ length }, () => this.valid(items)).join(',')}]`;
      }
      case 'string':
        return JSON.stringify(this.#string(schema));
      case 'integer':
        return String(Math.floor(this.#dice.between(minimum, maximum + 1)));
      case 'boolean':
        return this.#dice.pick(['true', 'false']);
      case 'object': {
        const required = requiredOf(schema);
        const members = Object.entries(this.#membersOf(schema)).filter(([name]) => {
          return required.includes(name) || this.#dice.chance(0.5);
        });
        const { minProperties = 0 } = schema;
        const chosen = members.length < minProperties ? Object.entries(this.#membersOf(schema)) : members;
        return toObject(chosen.map(([name, member]) => [name, this.valid(member)]));
      }
      case 'null':
        return 'null';
      default:
        throw new Error(`no values of ${JSON.stringify(schema)}`);
    }
  }

  /** A value that the schema refuses for one reason, as JSON text. */
  wrong(schema: Schema): Wrong {
    const { allOf, anyOf, enum: choices, maxLength, minLength = 0, exclusiveMinimum, minimum } = schema;
    if (anyOf) return this.wrong(this.#dice.pick(anyOf));
    if (allOf?.[0] && !allOf[0].if) return this.wrong(allOf[0]);
    const type = this.#typeOf(schema);
    const ways: (() => Wrong)[] = [() => this.#wrongType(type)];
    if (choices) ways.push(() => ({ text: JSON.stringify(`${this.#dice.pick(choices)}s`), status: 400 }));
    if (type === 'string' && maxLength !== undefined && !choices) {
      ways.push(() => ({ text: JSON.stringify('a'.repeat(maxLength + 1)), status: 422 }));
    }
    if (type === 'string' && minLength > 0 && !choices) ways.push(() => ({ text: '""', status: 422 }));
    if (type === 'number' && exclusiveMinimum === 0) {
      // Well formed, and refused for what it says: another status than for the wrong shape.
      ways.push(() => ({ text: this.#dice.pick(['0', '-1', '-0.000001', '0.0']), status: 422 }));
    }
    if (type === 'integer' && minimum === 0) ways.push(() => ({ text: '-1', status: 422 }));
    if (type === 'object' && schema.properties) {
      // A member that excuses others is left out, so that those others are required.
      const excuses = excusesOf(schema);
      const members = Object.entries(this.#membersOf(schema)).filter(([name]) => !excuses.includes(name));
      const required = requiredOf(schema).filter((name) => members.some(([each]) => each === name));
      const whole = (): [string, string][] => members.map(([name, member]) => [name, this.valid(member)]);
      if (required.length > 0) {
        ways.push(() => {
          const missing = this.#dice.pick(required);
          return { text: toObject(whole().filter(([name]) => name !== missing)), status: 400 };
        });
      }
      ways.push(() => {
        const [name, member] = this.#dice.pick(members);
        const { text, status } = this.wrong(member);
        return {
          text: toObject(whole().map((each) => (each[0] === name ? [name, text] : each))),
          status,
        };
      });
      if (schema.additionalProperties === false) {
        ways.push(() => {
          const extra = this.#dice.pick(['refund_adress', 'id', 'status', '__proto__', 'constructor', 'toString', '']);
          return { text: toObject([...whole(), [extra, '"x"']]), status: 400 };
        });
      }
    }
    return this.#dice.pick(ways)();
  }

  /** The members that an object may have together, each with its schema. */
  #membersOf(schema: Schema): Readonly<Record<string, Schema>> {
    const { properties, additionalProperties, oneOf = [] } = schema;
    if (!properties) return typeof additionalProperties === 'object' ? { note: additionalProperties } : {};
    const chosen = oneOf.length > 0 ? this.#dice.pick(oneOf).required : [];
    const others = oneOf.flatMap(({ required }) => required).filter((name) => !chosen.includes(name));
    const forms = formsOf(schema).flatMap((form) => this.#dice.pick(form));
    return Object.fromEntries(
      Object.entries(properties).filter(([name]) => !others.includes(name) && !forms.includes(name)),
    );
  }

  #typeOf({ type }: Schema): string {
    return typeof type === 'string' ? type : this.#dice.pick(type ?? ['object']);
  }

  #wrongType(type: string): Wrong {
    const others = { string: '"text"', number: '1', object: '{}', boolean: 'true', null: 'null', array: '["BTC"]' };
    const [, text] = this.#dice.pick(
      Object.entries(others).filter(([each]) => each !== type && !(type === 'integer' && each === 'number')),
    );
    return { text, status: 400 };
  }

  /** A positive JSON number of at most 40 characters, whose exponent is within ±30. */
  #number(): string {
    const dice = this.#dice;
    const digits = (length: number): string => Array.from({ length }, () => Math.floor(dice.next() * 10)).join('');
    const whole = dice.chance(0.4) ? '0' : `${1 + Math.floor(dice.next() * 9)}${digits(Math.floor(dice.next() * 12))}`;
    const fraction = `.${digits(Math.floor(dice.next() * 17))}${1 + Math.floor(dice.next() * 9)}`;
    const exponent = dice.chance(0.1) ? `e${dice.pick(['', '+', '-'])}${Math.floor(dice.next() * 31)}` : '';
    return `${whole}${whole === '0' || dice.chance(0.5) ? fraction : ''}${exponent}`;
  }

  #string({ minLength = 0, maxLength = 40, pattern, format }: Schema): string {
    const dice = this.#dice;
    if (format === 'date-time') {
      return `20${Math.floor(dice.between(10, 99))}-0${Math.floor(dice.between(1, 10))}-1${Math.floor(dice.between(0, 10))}T0${Math.floor(dice.between(0, 10))}:00:0${dice.pick(['0Z', '0.5Z', '1+02:00', '9.123456789-11:30'])}`;
    }
    if (pattern !== undefined) return this.#matching(pattern);
    if (dice.chance(0.2)) {
      const found = notorious.filter(({ length }) => length >= minLength && length <= maxLength);
      if (found.length > 0) return dice.pick(found);
    }
    const length = dice.chance(0.1) ? maxLength : Math.min(maxLength, minLength + Math.floor(dice.next() * 12));
    const letters = [...dice.pick(alphabets)];
    let text = '';
    while ([...text].length < length) text += dice.pick(letters);
    return text;
  }

  /**
   * Text that a pattern of classes, groups of ways and literal characters allows:
   * `^[0-9A-Fa-f]{64}$`, `^[a-z]{1,9}$|^"[a-z]{1,9}"$`, `^20[0-9]{2}-(0[1-9]|1[0-2])$`.
   */
  #matching(pattern: string): string {
    const ways = pattern.split(/\|(?![^(]*\))/);
    const way = this.#dice.pick(ways).replace(/^\^|\$$/g, '');
    const parts = way.matchAll(/(?:\[((?:[^\]\\]|\\.)+)\]|\(([^()]+)\)|([^\\[\](){}.*+?]))(?:\{(\d+)(?:,(\d+))?\})?/g);
    let end = 0;
    let text = '';
    for (const { 0: whole, 1: set, 2: group, 3: literal = '', 4: low = '1', 5: high = low, index } of parts) {
      if (index !== end) break;
      end = index + whole.length;
      const length = Math.floor(this.#dice.between(Number(low), Number(high) + 1));
      const letters = set === undefined ? [literal] : ascii.filter((one) => new RegExp(`[${set}]`).test(one));
      const one = (): string => (group === undefined ? this.#dice.pick(letters) : this.#matching(group));
      text += Array.from({ length }, one).join('');
    }
    if (end !== way.length) throw new Error(`no text for the pattern ${pattern}`);
    return text;
  }
}

const ascii = Array.from({ length: 0x7f }, (_, code) => String.fromCharCode(code));

/** Every member that an object must have in some case. */
function requiredOf({ required = [], oneOf = [], allOf = [] }: Schema): readonly string[] {
  const conditional = allOf.flatMap((one) => [...(one.then?.required ?? []), ...(one.if?.required ?? [])]);
  return [...required, ...conditional, ...oneOf.flatMap((way) => way.required)];
}

/** The two forms of what can be said in two ways: the members of either are left out. */
function formsOf({ allOf = [] }: Schema): readonly (readonly (readonly string[])[])[] {
  return allOf.flatMap(({ if: condition, then }) =>
    condition?.required && then?.properties ? [[condition.required, Object.keys(then.properties)]] : [],
  );
}

/** Members without which others are required, and that are no other form of those. */
function excusesOf(schema: Schema): readonly string[] {
  const forms = formsOf(schema).flat(2);
  const excuses = (schema.allOf ?? []).flatMap(({ if: condition }) => [
    ...(condition?.not?.required ?? []),
    ...(condition?.not?.anyOf ?? []).flatMap(({ required = [] }) => required),
  ]);
  return excuses.filter((name) => !forms.includes(name));
}

/** Members as JSON text; a name may be there twice. */
function toObject(members: readonly (readonly [string, string])[]): string {
  return `{${members.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`;
}
