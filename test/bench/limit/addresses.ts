import type { Pool } from 'pg';
import { deriveDepositAddress } from '../../../src/chains/addresses/deposit-address.ts';

export interface ReadyAddress {
  readonly index: number;
  readonly address: string;
}

/** As many indexes as the sequence moves on with each call. */
const indexBlock = 50;
/** Few, so that a measurement pays for what it uses. */
const queueLength = 32;

/** Deposit addresses of one account, derived one by one between requests. */
export class AddressQueue {
  readonly #pool: Pool;
  readonly #network: string;
  readonly #xpub: string;
  readonly #ready: ReadyAddress[] = [];
  #block = { next: 0, end: 0 };
  #reserving: Promise<void> | null = null;
  #refilling = false;

  constructor(pool: Pool, network: string, xpub: string) {
    this.#pool = pool;
    this.#network = network;
    this.#xpub = xpub;
  }

  /** An unused address. */
  async take(): Promise<ReadyAddress> {
    let ready = this.#ready.shift();
    while (!ready) {
      if (this.#block.next < this.#block.end) ready = await this.#derive();
      else await this.#reserve();
    }
    this.refill();
    return ready;
  }

  refill(): void {
    if (this.#refilling) return;
    this.#refilling = true;
    setImmediate(this.#step);
  }

  readonly #step = (): void => {
    if (this.#ready.length >= queueLength) {
      this.#refilling = false;
    } else if (this.#block.next < this.#block.end) {
      void this.#derive().then((ready) => {
        this.#ready.push(ready);
        setImmediate(this.#step);
      });
    } else {
      void this.#reserve().then(this.#step);
    }
  };

  async #derive(): Promise<ReadyAddress> {
    const index = this.#block.next++;
    return { index, address: await deriveDepositAddress(this.#network, this.#xpub, index) };
  }

  #reserve(): Promise<void> {
    this.#reserving ??= this.#pool
      .query<{ last: string }>({ name: 'block', text: `select nextval('deposit_index_block')::text as last` })
      .then(({ rows }) => {
        const end = Number.parseInt(rows[0]?.last ?? '', 10) + 1;
        this.#block = { next: end - indexBlock, end };
      })
      .finally(() => {
        this.#reserving = null;
      });
    return this.#reserving;
  }
}
