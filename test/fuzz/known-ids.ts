import { randomUUID } from 'node:crypto';
import type { Dice } from '../support/gateway/dice.ts';

const kept = 200;

/** Whether a member names a thing, or a place in a list. */
const isId = (name: string): boolean =>
  name !== 'request_id' && /(^|_)id$|[a-z]Id$|^cursor$|_cursor$|Cursor$/.test(name);

/** The last ids that answers had, for requests that name one. */
export class KnownIds {
  #ids: string[] = [];

  /** Keeps the ids of an answer: each member that is called so. */
  learn(answer: unknown): void {
    if (typeof answer !== 'object' || answer === null) return;
    for (const [name, value] of Object.entries(answer)) {
      if (typeof value === 'string' && isId(name)) this.#keep(value);
      else this.learn(value);
    }
  }

  /** A known id, or a random one while none is known. */
  pick(dice: Dice): string {
    return this.#ids.length > 0 ? dice.pick(this.#ids) : randomUUID();
  }

  #keep(id: string): void {
    if (this.#ids.includes(id)) return;
    this.#ids = [...this.#ids.slice(1 - kept), id];
  }
}
