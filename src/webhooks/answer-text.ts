/** Most bytes of an answer that are kept, before and after unprintable ones are replaced. */
export const keptAnswerBytes = 1_024;

/**
 * The beginning of an answer as text that is safe to store and to show as text. What is no UTF-8,
 * and what a person cannot see, is replaced: control characters, and marks that turn the direction
 * of text. Line ends and tabs stay.
 *
 * @param bytes at most `keptAnswerBytes` of them are used.
 */
export function answerText(bytes: Buffer): string {
  return withinBytes(
    decoded(bytes.subarray(0, keptAnswerBytes))
      .replace(/\r\n?/g, '\n')
      .replace(/[^\P{C}\n\t]|[\u2028\u2029]/gu, '\uFFFD'),
  );
}

/** A character that is cut at the end is left out. */
const decoded = (bytes: Buffer): string => new TextDecoder('utf-8').decode(bytes, { stream: true });

/** A replaced byte takes three. */
const withinBytes = (text: string): string => decoded(Buffer.from(text).subarray(0, keptAnswerBytes));
