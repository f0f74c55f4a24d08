import { AppError } from '../errors.ts';

/** Whether PostgreSQL can store a text: it takes no NUL and no half of a surrogate pair. */
export function isStorableText(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

/**
 * Looks at each text of a value, however deeply it is nested.
 *
 * @throws AppError invalid_value for a text that PostgreSQL cannot store unchanged.
 */
export function requireStorable(value: unknown): void {
  // Iterative, because a value may be nested as deeply as its request is long.
  const waiting = [value];
  while (waiting.length > 0) {
    const one = waiting.pop();
    if (typeof one === 'string' && !isStorableText(one)) {
      throw new AppError('invalid_value', 'a text has no NUL characters and no halves of a surrogate pair');
    }
    if (typeof one === 'object' && one !== null) waiting.push(...Object.values(one));
  }
}
