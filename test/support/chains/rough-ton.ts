import { Address } from '@ton/core';
import type { Dice } from '../gateway/dice.ts';
import type { RealTon } from './real-ton.ts';
import type { Reorganisation, RoughChain } from './rough-chains.ts';
import { rawOf } from './ton-node/names.ts';

/**
 * A simulated TON. Nothing is taken back: its servers forget what waits for a block instead, which
 * then expires unless it is sent again.
 */
export class RoughTon implements RoughChain {
  readonly #network: RealTon;

  constructor(network: RealTon) {
    this.#network = network;
  }

  newAddress(dice: Dice): string {
    return new Address(0, Buffer.from(dice.bytes(32))).toString({ bounceable: false });
  }

  pay(to: string, amount: bigint, contract: string | null, comment: string | null = null): Promise<string> {
    const { chain, jetton } = this.#network;
    return chain.credit(Address.parse(to), amount, { jetton: contract === null ? null : jetton, comment });
  }

  mine(): Promise<void> {
    return this.#network.mine();
  }

  async reorganise({ doubleSpends = null, forgets = null }: Reorganisation): Promise<boolean> {
    const { chain } = this.#network;
    const account = forgets === null ? null : rawOf(Address.parse(forgets));
    const forgotten = chain.waiting.filter(({ to, normalHash }) => {
      const txid = Buffer.from(normalHash, 'base64').toString('hex');
      return rawOf(to) === account || txid === doubleSpends;
    });
    for (const { hash } of forgotten) chain.drop(hash);
    return forgotten.some(({ normalHash }) => Buffer.from(normalHash, 'base64').toString('hex') === doubleSpends);
  }

  async isMined(txid: string): Promise<boolean> {
    const hash = Buffer.from(txid, 'hex').toString('base64');
    return this.#network.chain.blocks.some(({ executed }) => executed.some((one) => one.hash === hash));
  }

  async balances(addresses: readonly string[], contract: string | null): Promise<ReadonlyMap<string, bigint>> {
    const { chain, jetton } = this.#network;
    const of = (address: Address): bigint => (contract === null ? chain.balance(address) : jetton.balance(address));
    return new Map(addresses.map((address) => [address, of(Address.parse(address))]));
  }
}
