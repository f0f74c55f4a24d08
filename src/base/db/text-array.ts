import { ArrayType } from '@mikro-orm/postgresql';

const mustBeEscaped = /["\\]/;

/** A text as an element of a PostgreSQL array. */
export function arrayElement(text: string): string {
  return mustBeEscaped.test(text) ? `"${text.replace(/["\\]/g, '\\$&')}"` : `"${text}"`;
}

/**
 * An array of any texts. The mapper's own type loses the control characters of a text with commas
 * or quotes, and writes `null` for the text NULL.
 */
export class TextArray extends ArrayType<string> {
  override convertToDatabaseValue(texts: string[] | null): string | null {
    return texts && `{${texts.map(arrayElement).join(',')}}`;
  }
}
