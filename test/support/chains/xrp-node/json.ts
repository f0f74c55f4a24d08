/** A number as it is to be written. */
export class Written {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Text of an answer. Big integers are plain numbers, members without a value are left out. */
export function stringify(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  if (value instanceof Written) return value.text;
  if (Array.isArray(value)) return `[${value.map(stringify).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${stringify(member)}`).join(',')}}`;
}

/** Drops as `server_info` writes XRP: 10 of them are `1e-05`. */
export function xrpOf(drops: bigint): Written {
  const xrp = Number(drops) / 1_000_000;
  const isTiny = xrp > 0 && xrp < 0.0001;
  return new Written(isTiny ? xrp.toExponential().replace(/e-(\d)$/, 'e-0$1') : String(xrp));
}

/** A copy with each member changed, also of members of members. */
export function mapped(value: unknown, change: (name: string, value: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map((one) => mapped(one, change));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, change(name, mapped(one, change))]));
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Written);
}
