import type { Dice } from '../gateway/dice.ts';
import { Refusal } from '../http/refusal.ts';
import { type Credit, HostileNode, shuffled, summed } from './hostile-node.ts';

const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const zeroAddress = `0x${'0'.repeat(40)}`;
/** A list of a block without transactions. */
const emptyRoot = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421';
/** The largest number of a contract. */
const most = 2n ** 256n - 1n;
/**
 * The first amounts that numeric(38,18) cannot hold, in the smallest unit of a coin with so many
 * decimals.
 */
const beyond = (decimals: number): bigint => 10n ** BigInt(20 + decimals);

interface Log {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
}

/** A transaction with all that the node tells of it, and what of it is ours. */
interface HostileTx {
  readonly to: string | null;
  readonly value: bigint;
  readonly success: boolean;
  readonly logs: readonly Log[];
  readonly calls: readonly object[];
  readonly credits: readonly Credit[];
  readonly leftOut: number;
  /** Where only the list of receipts has it, as bridges of some chains do. */
  readonly isUnlisted?: boolean;
}

const quiet = { to: null, value: 0n, success: true, logs: [], calls: [], credits: [], leftOut: 0 } as const;
const quantity = (value: bigint | number): string => `0x${value.toString(16)}`;
const word = (value: bigint): string => value.toString(16).padStart(64, '0');

export interface HostileEvmOptions {
  readonly chainId: number;
  /** Contract of the token that is watched, with its decimals. */
  readonly token: string;
  readonly decimals: number;
  /** Addresses of ours, with checksums. */
  readonly ours: readonly string[];
}

/** A chain of the Ethereum kind. */
export class HostileEvm extends HostileNode {
  readonly #options: HostileEvmOptions;

  constructor(dice: Dice, options: HostileEvmOptions) {
    super(dice);
    this.#options = options;
    this.append(null);
  }

  append(honest: Credit | null): void {
    const height = this.blocks.length;
    const hash = `0x${this.hash()}`;
    const parent = this.blocks.at(-1)?.hash ?? `0x${'0'.repeat(64)}`;
    const hostile = height === 0 ? [] : this.some(Math.floor(this.dice.between(0, 9)), this.#makers);
    const txs = shuffled(this.dice, [...hostile, ...(honest === null ? [] : [this.#honest(honest)])]);
    const built = txs.map((tx) => ({ ...tx, txid: `0x${this.hash()}`, from: this.#sender(tx) }));
    const header = { number: quantity(height), hash, parentHash: parent, timestamp: quantity(1_800_000_000 + height) };
    const listed = built.filter(({ isUnlisted }) => !isUnlisted);
    const transactions = listed.map(({ txid, from, to, value }, index) => ({
      ...{ hash: txid, blockHash: hash, from, to, nonce: quantity(index), value: quantity(value) },
      // What nothing reads may be anything.
      ...{ type: '0x7f', input: `0x${this.hex(2)}`, v: null, accessList: [{}], chainId: 'none' },
    }));
    const receipts = built.map(({ txid, from, to, success, logs }) => ({
      ...{ transactionHash: txid, blockHash: hash, blockNumber: quantity(height), from, to, type: '0x7f' },
      status: success ? '0x1' : '0x0',
      logs: logs.map((log, index) => ({ ...log, logIndex: quantity(index), removed: false, transactionHash: txid })),
    }));
    const traces = listed.map(({ txid, from, to, value, calls, success }) => ({
      txHash: txid,
      result: {
        ...{ type: to === null ? 'CREATE' : 'CALL', from, to: to ?? this.#stranger(), value: quantity(value), calls },
        ...(success ? {} : { error: 'execution reverted' }),
      },
    }));
    this.blocks.push({
      ...{ height, hash, parent },
      credits: txs.flatMap(({ credits }) => summed(credits)),
      leftOut: txs.reduce((sum, { leftOut }) => sum + leftOut, 0),
      answers: {
        header: { ...header, transactions: listed.map(({ txid }) => txid) },
        block: {
          ...header,
          transactions,
          transactionsRoot: listed.length === 0 ? emptyRoot : `0x${this.hash()}`,
          receiptsRoot: built.length === 0 ? emptyRoot : `0x${this.hash()}`,
        },
        receipts,
        traces,
      },
    });
  }

  protected answer(method: string, params: readonly unknown[]): unknown {
    switch (method) {
      case 'eth_chainId':
        return quantity(this.#options.chainId);
      case 'eth_syncing':
        return false;
      case 'eth_getBlockByNumber':
        return this.#block(params[0], params[1] === true);
      case 'eth_getBlockReceipts':
        return this.blocks.find(({ hash }) => hash === params[0])?.answers.receipts ?? null;
      case 'debug_traceBlockByHash':
        return this.blocks.find(({ hash }) => hash === params[0])?.answers.traces ?? new Refusal(-32000, 'no block');
      case 'eth_getTransactionByHash':
        return null;
      case 'eth_getBalance':
        return '0x0';
      default:
        return new Refusal(-32601, 'no such method');
    }
  }

  #block(tag: unknown, isFull: boolean): unknown {
    if (tag === 'pending') return this.#pending();
    const block = tag === 'latest' ? this.head : this.blocks[Number(tag)];
    return (isFull ? block?.answers.block : block?.answers.header) ?? null;
  }

  /** What waits for a block may be anything too, and is never credited. */
  #pending(): object {
    const tx = (to: unknown, value: unknown): object => ({
      ...{ hash: `0x${this.hash()}`, from: this.#stranger(), to, value, nonce: '0x0' },
    });
    const transactions = this.some(Math.floor(this.dice.between(0, 4)), [
      () => tx(this.#stranger(), '0x1'),
      () => tx(null, quantity(most)),
      () => tx(this.#ours().toLowerCase(), quantity(most)),
      () => tx('nowhere', '0x1'),
      () => tx(this.#ours().toLowerCase(), '-1'),
    ]);
    return { parentHash: this.head.hash, transactions };
  }

  #honest({ address, contract, amount }: Credit): HostileTx {
    const to = address.toLowerCase();
    const credits = [{ address, contract, amount }];
    if (contract === null) return { ...quiet, to, value: amount, credits };
    return { ...quiet, to: contract.toLowerCase(), logs: [this.#transfer(to, amount)], credits };
  }

  /** Makers of transactions that need no right on the contract. */
  get #makers(): (() => HostileTx)[] {
    const { token, decimals } = this.#options;
    const contract = token.toLowerCase();
    const logsOf = (logs: readonly Log[], credits: readonly Credit[] = [], leftOut = 0): HostileTx => ({
      ...{ ...quiet, to: contract, logs, credits, leftOut },
    });
    const own = (address: string, amount: bigint): Credit => ({ address, contract: null, amount });
    const paid = (address: string, amount: bigint): Credit => ({ address, contract: token, amount });
    const call = (changes: object): object => ({
      type: 'CALL',
      from: this.#stranger(),
      to: this.#stranger(),
      ...changes,
    });
    const internal = (calls: readonly object[], credits: readonly Credit[] = [], leftOut = 0): HostileTx => ({
      ...{ ...quiet, to: this.#stranger(), calls, credits, leftOut },
    });
    const small = (): bigint => BigInt(Math.floor(this.dice.between(1, 1e6)));
    return [
      // Amounts that nothing can hold.
      () => {
        const amount = this.dice.pick([most, beyond(decimals), 2n ** 255n]);
        return logsOf([this.#transfer(this.#ours(), amount)], [], 1);
      },
      () => ({ ...quiet, to: this.#ours().toLowerCase(), value: this.dice.pick([most, beyond(18)]), leftOut: 1 }),
      () => internal([call({ to: this.#ours().toLowerCase(), value: quantity(beyond(18)) })], [], 1),
      // Logs that are no transfers of the token to us.
      () => logsOf([{ ...this.#transfer(this.#ours(), small()), address: this.#stranger() }]),
      () => {
        const { topics, ...log } = this.#transfer(this.#ours(), small());
        const odd = this.dice.pick([
          [],
          topics.slice(0, 1),
          topics.slice(0, 2),
          [...topics, `0x${this.hash()}`],
          [`0x${this.hash()}`, ...topics.slice(1)],
          [topics[0] ?? '', topics[1] ?? '', `0x${'f'.repeat(24)}${this.#ours().slice(2).toLowerCase()}`],
        ]);
        return logsOf([{ ...log, topics: odd }]);
      },
      () => {
        const data = this.dice.pick([
          '0x',
          '0x00',
          `0x${'0'.repeat(62)}`,
          `0x${'0'.repeat(66)}`,
          `0x${'f'.repeat(128)}`,
        ]);
        return logsOf([{ ...this.#transfer(this.#ours(), 1n), data }]);
      },
      () => logsOf([this.#transfer(this.#ours(), 0n)]),
      () => ({ ...logsOf([this.#transfer(this.#ours(), small())]), success: false }),
      // Coins that never moved.
      () => ({ ...quiet, to: this.#ours().toLowerCase(), value: small(), success: false }),
      () => ({ ...quiet, to: null, value: small() }),
      () => internal([call({ to: this.#ours().toLowerCase(), value: '0x5', error: 'out of gas' })]),
      () => internal([call({ error: 'x', calls: [call({ to: this.#ours().toLowerCase(), value: '0x5' })] })]),
      () => internal([call({ type: 'DELEGATECALL', to: this.#ours().toLowerCase(), value: '0x5' })]),
      () => {
        const self = this.#ours().toLowerCase();
        return internal([call({ from: self, to: self, value: '0x5' })]);
      },
      // A kind of call that a later change of the machine brings.
      () => internal([call({ type: 'GIFT', to: this.#ours().toLowerCase(), value: '0x5' })], [], 1),
      () => internal([call({ type: 'GIFT', value: '0x5' })]),
      // A call that goes as deep as the machine allows.
      () => {
        const [address, amount] = [this.#ours(), small()];
        let deep = call({ to: address.toLowerCase(), value: quantity(amount) });
        for (let depth = 0; depth < 1_000; depth += 1) deep = call({ calls: [deep] });
        return internal([deep], [own(address, amount)]);
      },
      // Much at once, all of it real.
      () => {
        const each = this.#options.ours.map((address) => paid(address, small()));
        return logsOf(
          each.map(({ address, amount }) => this.#transfer(address, amount)),
          each,
        );
      },
      () => {
        const each = this.#options.ours.map((address) => own(address, small()));
        const calls = each.map(({ address, amount }) => call({ to: address.toLowerCase(), value: quantity(amount) }));
        return internal(calls, each);
      },
      () => {
        const one = paid(this.#ours(), small());
        const log = this.#transfer(one.address, one.amount);
        return logsOf([log, log, log], [one, one, one]);
      },
      () => {
        const one = own(this.#ours(), small());
        const end = call({ type: 'SELFDESTRUCT', to: one.address.toLowerCase(), value: quantity(one.amount) });
        return internal([end, call({ type: 'CREATE2', value: '0x1' })], [one]);
      },
      () => logsOf(Array.from({ length: 300 }, () => this.#transfer(this.#stranger(), small()))),
      () => {
        const one = paid(this.#ours(), small());
        return { ...logsOf([this.#transfer(one.address, one.amount)], [one]), isUnlisted: true };
      },
    ];
  }

  #transfer(to: string, amount: bigint): Log {
    const topics = [
      transferTopic,
      `0x${'0'.repeat(24)}${this.hex(40)}`,
      `0x${'0'.repeat(24)}${to.slice(2).toLowerCase()}`,
    ];
    return { address: this.#options.token.toLowerCase(), topics, data: `0x${word(amount)}` };
  }

  #sender({ isUnlisted }: HostileTx): string {
    return isUnlisted ? zeroAddress : this.#stranger();
  }

  #stranger(): string {
    return `0x${this.hex(40)}`;
  }

  #ours(): string {
    return this.dice.pick(this.#options.ours);
  }
}
