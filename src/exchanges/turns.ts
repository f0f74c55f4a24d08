/** Lets requests of one key follow each other, where the exchange refuses one that overtakes. */
export class Turns {
  readonly #areTaken: boolean;
  #last: Promise<unknown> = Promise.resolve();

  constructor(areTaken: boolean) {
    this.#areTaken = areTaken;
  }

  /** Asks once the questions before it are answered, or at once where no turns are taken. */
  take<T>(ask: () => Promise<T>): Promise<T> {
    if (!this.#areTaken) return ask();
    const asked = this.#last.then(ask);
    this.#last = asked.catch(() => {});
    return asked;
  }
}
