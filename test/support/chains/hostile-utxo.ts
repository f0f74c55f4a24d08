import type { Dice } from '../gateway/dice.ts';
import { Refusal } from '../http/refusal.ts';
import { type Credit, HostileNode, shuffled, summed } from './hostile-node.ts';

/** An output as the node tells of it, and what of it is ours. */
interface HostileOutput {
  readonly output: object;
  readonly credit: Credit | null;
}

export interface HostileUtxoOptions {
  readonly genesis: string;
  readonly ours: readonly string[];
}

/** A number that JSON shows with all its digits. */
const coins = (units: bigint): unknown => {
  const text = units.toString().padStart(9, '0');
  return (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(`${text.slice(0, -8)}.${text.slice(-8)}`);
};

/** A chain of the Bitcoin kind. */
export class HostileUtxo extends HostileNode {
  readonly #options: HostileUtxoOptions;

  constructor(dice: Dice, options: HostileUtxoOptions) {
    super(dice);
    this.#options = options;
    this.append(null);
  }

  append(honest: Credit | null): void {
    const height = this.blocks.length;
    const hash = height === 0 ? this.#options.genesis : this.hash();
    const parent = this.blocks.at(-1)?.hash ?? '0'.repeat(64);
    const credits: Credit[] = [];
    const tx = (made: readonly HostileOutput[], isFirst = false): object => {
      const txid = this.hash();
      if (!isFirst) credits.push(...summed(made.flatMap(({ credit }) => credit ?? [])));
      const vin = isFirst ? [{ coinbase: this.hex(20), sequence: 0 }] : this.some(2, this.#inputs);
      return { txid, hash: this.hash(), version: 2, vin, vout: made.map(({ output }, n) => ({ n, ...output })) };
    };
    const hostile =
      height === 0 ? [] : this.some(Math.floor(this.dice.between(0, 6)), this.#transactions).map((made) => tx(made));
    const honestTx =
      honest === null
        ? []
        : [tx(shuffled(this.dice, [this.#pays(honest.address, honest.amount), ...this.some(3, this.#outputs)]))];
    const reward = tx([this.#pays(this.#ours(), 1_250_000_000n), ...this.some(2, this.#outputs)], true);
    const header = { hash, height, previousblockhash: parent, time: 1_800_000_000 + height, confirmations: 1 };
    const txs = [reward, ...shuffled(this.dice, [...hostile, ...honestTx])];
    const answers = { header, block: { ...header, tx: txs, mweb: { hash: null } } };
    this.blocks.push({ height, hash, parent, credits, leftOut: 0, answers });
  }

  protected answer(method: string, params: readonly unknown[]): unknown {
    const byHash = this.blocks.find(({ hash }) => hash === params[0]);
    switch (method) {
      case 'getblockcount':
        return this.head.height;
      case 'getbestblockhash':
        return this.head.hash;
      case 'getblockhash':
        return this.blocks[Number(params[0])]?.hash ?? new Refusal(-8, 'out of range');
      case 'getblockheader':
        return byHash?.answers.header ?? new Refusal(-5, 'not found');
      case 'getblock':
        return byHash?.answers.block ?? new Refusal(-5, 'not found');
      case 'getblockchaininfo':
        return { blocks: this.head.height, headers: this.head.height, initialblockdownload: false, pruned: false };
      case 'getrawmempool':
        return [];
      default:
        return new Refusal(-5, 'no such thing');
    }
  }

  #pays(address: string, amount: bigint, type = 'witness_v0_keyhash'): HostileOutput {
    const scriptPubKey = this.dice.pick([
      { type, address, asm: '0 x', hex: '00' },
      { type, addresses: [address], reqSigs: 1 },
    ]);
    const credit = amount > 0n ? { address, contract: null, amount } : null;
    return { output: { value: coins(amount), scriptPubKey }, credit };
  }

  /** Outputs without an owner, or with a script that no address names. */
  get #outputs(): (() => HostileOutput)[] {
    const odd = (scriptPubKey: object, value = 0n): HostileOutput => ({
      output: { value: coins(value), scriptPubKey },
      credit: null,
    });
    return [
      () => odd({ type: 'nulldata', asm: `OP_RETURN ${this.hex(160)}` }),
      () => odd({ type: 'nonstandard', asm: '[error]', hex: '' }, 5n),
      () => odd({ type: 'pubkey', addresses: [this.#ours()] }, 5n),
      () => odd({ type: 'multisig', reqSigs: 1, addresses: [this.#ours(), this.#ours()] }, 5n),
      () => odd({ type: 'witness_unknown', address: this.#ours() }, 5n),
      () => odd({ type: 'witness_mweb_hogaddr', address: this.#ours() }, 8_400_000_000_000_000n),
      () => odd({ type: 'anchor', address: 'bc1pfeessrawgf' }, 0n),
      () => ({ output: { ismweb: true, output_id: this.hash() }, credit: null }),
      () => this.#pays('\u0000', 5n),
      () => this.#pays(`ltc1q${'q'.repeat(5_000)}`, 5n),
      () => this.#pays('\ud800', 5n),
      () => this.#pays(this.#ours(), 0n),
    ].map((make) => () => {
      const { output, credit } = make();
      return { output, credit: credit !== null && this.#options.ours.includes(credit.address) ? credit : null };
    });
  }

  get #transactions(): (() => HostileOutput[])[] {
    const small = (): bigint => BigInt(Math.floor(this.dice.between(1, 1e6)));
    return [
      () => this.some(5, this.#outputs),
      () => this.#options.ours.map((address) => this.#pays(address, small())),
      () => {
        const address = this.#ours();
        const amount = small();
        return [this.#pays(address, amount), this.#pays(address, amount), ...this.some(2, this.#outputs)];
      },
      () => [this.#pays(this.#ours(), 8_400_000_000_000_000n)],
      () => [...this.some(1_500, [() => this.#stranger()]), this.#pays(this.#ours(), small())],
      () => [],
    ];
  }

  #stranger(): HostileOutput {
    return { ...this.#pays(`ltc1q${this.hex(38)}`, 546n), credit: null };
  }

  get #inputs(): (() => object)[] {
    return [
      () => ({ txid: this.hash(), vout: 0, scriptSig: { asm: '', hex: '' }, txinwitness: [this.hex(64)] }),
      () => ({ txid: this.hash(), vout: 4_294_967_295 }),
      () => ({ ismweb: true, output_id: this.hash() }),
    ];
  }

  #ours(): string {
    return this.dice.pick(this.#options.ours);
  }
}
