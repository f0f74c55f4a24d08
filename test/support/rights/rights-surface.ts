import type { Cell } from './rights-record.ts';
import type { RightsWorld } from './rights-world.ts';

/** A set of operations and its callers. */
export interface Surface {
  /** Names the file of its record. */
  readonly name: string;
  /**
   * Every operation that documents or schemas name. A variant has its difference in parentheses
   * behind the name.
   */
  readonly operations: readonly string[];
  /** Requests for operations that no document or schema names any more. */
  readonly strangers: readonly string[];
  /** Prepares the callers; the result asks an operation as each of them. */
  open(world: RightsWorld): Promise<(operation: string) => Promise<Cell[]>>;
  /** What holds of every table, by name: each finds the cells that break it. */
  readonly invariants: Readonly<Record<string, (table: Table) => readonly Cell[]>>;
}

/** A whole table, as invariants ask for it. */
export class Table {
  readonly cells: readonly Cell[];
  readonly #gots: ReadonlyMap<string, string>;

  constructor(cells: readonly Cell[]) {
    this.cells = cells;
    this.#gots = new Map(cells.map(({ operation, caller, got }) => [`${operation}\t${caller}`, got]));
  }

  /**
   * Cells of some callers.
   *
   * @throws Error when the table has none of one of them, because nothing would be checked then.
   */
  of(...callers: readonly string[]): Cell[] {
    for (const name of callers) {
      if (!this.cells.some(({ caller }) => caller === name)) throw new Error(`the table has no caller '${name}'`);
    }
    return this.cells.filter(({ caller }) => callers.includes(caller));
  }

  /** What another caller gets from the operation of a cell. */
  got(operation: string, caller: string): string | undefined {
    return this.#gots.get(`${operation}\t${caller}`);
  }

  /** Cells of a caller that are not as those of another one. */
  unlike(caller: string, other: string): Cell[] {
    return this.of(caller).filter(({ operation, got }) => got !== this.got(operation, other));
  }
}

/** The operation of a variant. */
export function baseOf(operation: string): string {
  return operation.replace(/ \(.*\)$/, '');
}
