import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** What one caller gets from one operation. */
export interface Cell {
  readonly operation: string;
  readonly caller: string;
  /** The HTTP status, the code of a refusal, and what else tells an answer from another. */
  readonly got: string;
}

const folder = new URL('../../nets/rights/', import.meta.url);
const none = 'none';

/** Whether this run writes the record instead of comparing with it. */
export const isRenewed = process.env.RIGHTS === 'renew';

/** @throws Error when a run in CI would write the record. */
export function refuseRenewalInCi(): void {
  if (isRenewed && process.env.CI) throw new Error('RIGHTS=renew is refused in CI: renew the record, and commit it');
}

/** The committed table of a surface, one line for each cell, sorted. */
export class RightsRecord {
  readonly #path: string;
  readonly #cells: ReadonlyMap<string, string>;

  /** @param surface names the file; without a file the record is empty. */
  constructor(surface: string) {
    this.#path = fileURLToPath(new URL(`${surface}.tsv`, folder));
    const lines = existsSync(this.#path) ? readFileSync(this.#path, 'utf8').split('\n').slice(1, -1) : [];
    this.#cells = new Map(
      lines.map((line) => {
        const [operation = '', caller = '', got = ''] = line.split('\t');
        return [`${operation}\t${caller}`, got];
      }),
    );
  }

  /** Every operation of the record, each once. */
  get operations(): string[] {
    return [...new Set([...this.#cells.keys()].map((key) => key.split('\t')[0] ?? ''))];
  }

  /** Cells of an operation that differ, as `operation | caller | expected | got`. */
  differences(operation: string, cells: readonly Cell[]): string[] {
    const found = new Map(cells.map(({ caller, got }) => [`${operation}\t${caller}`, got]));
    const known = [...this.#cells.keys()].filter((key) => key.startsWith(`${operation}\t`));
    return [...new Set([...known, ...found.keys()])]
      .sort()
      .map((key) => [...key.split('\t'), this.#cells.get(key) ?? none, found.get(key) ?? none])
      .filter(([, , expected, got]) => expected !== got)
      .map((parts) => parts.join(' | '));
  }

  /** Writes these cells in place of the record. */
  write(cells: readonly Cell[]): void {
    const lines = cells.map(({ operation, caller, got }) => `${operation}\t${caller}\t${got}`).sort();
    writeFileSync(this.#path, `${['operation\tcaller\tanswer', ...lines].join('\n')}\n`);
  }
}
