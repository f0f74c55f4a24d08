import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

export const areas = ['money', 'settlement', 'rights'] as const;
export type Area = (typeof areas)[number];

/** A test file, or the tests of it whose names contain a text. */
export interface NamedTest {
  readonly path: string;
  readonly title: string | null;
}

/** A fault that the suite must notice. */
export interface Mutant {
  readonly id: string;
  readonly area: Area;
  readonly file: string;
  readonly original: string;
  readonly replacement: string;
  readonly wrong: string;
  /** The tests that are expected to notice it, in the order in which they are tried. */
  readonly tests: readonly NamedTest[];
}

const listPath = fileURLToPath(new URL('mutants.yaml', import.meta.url));

/**
 * Reads mutants.yaml.
 *
 * @throws Error that names the row that is wrong.
 */
export function readMutants(): Mutant[] {
  const rows = parse(readFileSync(listPath, 'utf8')) as Record<string, unknown>[];
  const mutants = rows.map(mutantOf);
  const ids = mutants.map(({ id }) => id);
  const repeated = ids.find((id, i) => ids.indexOf(id) !== i);
  if (repeated !== undefined) throw new Error(`mutants.yaml has two rows ${repeated}`);
  return mutants;
}

function mutantOf(row: Record<string, unknown>, index: number): Mutant {
  const text = (name: string): string => {
    const value = row[name];
    if (typeof value === 'string' && value !== '') return value;
    throw new Error(`row ${index + 1} of mutants.yaml (${row.id}) has no ${name}`);
  };
  const area = areas.find((known) => known === row.area);
  if (!area) throw new Error(`row ${index + 1} of mutants.yaml (${row.id}) has an unknown area`);
  // A replacement may be empty: a line is lost.
  const replacement = typeof row.replacement === 'string' ? row.replacement : '';
  const tests = (Array.isArray(row.tests) ? row.tests : []).map((test: string) => {
    const [path = '', title = null] = test.split(' > ');
    return { path, title };
  });
  if (tests.length === 0) throw new Error(`row ${index + 1} of mutants.yaml (${row.id}) names no test`);
  const own = { id: text('id'), file: text('file'), original: text('original'), wrong: text('wrong') };
  if (own.original === replacement) throw new Error(`${own.id} of mutants.yaml replaces a text by itself`);
  return { ...own, area, replacement, tests };
}

/**
 * The file of a checkout with the mutant in it. Null when the original text is not there exactly
 * once, so that the row must be adapted to the code.
 */
export function mutated(checkout: string, { file, original, replacement }: Mutant): string | null {
  let content: string;
  try {
    content = readFileSync(join(checkout, file), 'utf8');
  } catch {
    return null;
  }
  const parts = content.split(original);
  return parts.length === 2 ? parts.join(replacement) : null;
}
