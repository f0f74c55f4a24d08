import { AppError, fieldError } from '../errors.ts';

/** Whether PostgreSQL can store a text: it takes no NUL and no half of a surrogate pair. */
export function isStorableText(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

/**
 * Looks at each text of a value, however deeply it is nested.
 *
 * @throws AppError invalid_value for a text that PostgreSQL cannot store unchanged. It names the
 *   member of the value that holds the text.
 */
export function requireStorable(value: unknown): void {
  // Iterative, because a value may be nested as deeply as its request is long.
  const waiting: { readonly member: string | null; readonly one: unknown }[] = [{ member: null, one: value }];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { member, one } = next;
    if (typeof one === 'string' && !isStorableText(one)) {
      const detail = 'a text has no NUL characters and no halves of a surrogate pair';
      throw member === null ? new AppError('invalid_value', detail) : fieldError('invalid_value', member, detail);
    }
    if (typeof one !== 'object' || one === null) continue;
    for (const [name, inner] of Object.entries(one)) waiting.push({ member: member ?? name, one: inner });
  }
}
