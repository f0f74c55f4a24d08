import { contractAddress } from '@ton/core';
import { encodeP2wpkh } from '../../../src/chains/addresses/bitcoin-like.ts';
import { toChecksumAddress } from '../../../src/chains/addresses/evm.ts';
import { encodeRippleClassic } from '../../../src/chains/addresses/ripple.ts';
import { encodeStellarAccount } from '../../../src/chains/addresses/stellar.ts';
import { RpcError } from '../../../src/chains/nodes/json-rpc.ts';
import { addressOf, textOf } from '../../../src/chains/ton/ton-highload.ts';
import { parseCoins } from '../../../src/chains/utxo/utxo-amount.ts';
import type { Dice } from '../gateway/dice.ts';
import type { Anvil } from './anvil.ts';
import { type Litecoind, NoRival } from './litecoind.ts';
import type { RealSolana } from './real-solana.ts';
import type { RealStellar } from './real-stellar.ts';
import type { RealTon } from './real-ton.ts';
import type { RealXrp } from './real-xrp.ts';
import { keyOf } from './solana-node/keys.ts';
import { idOf } from './solana-node/transaction.ts';
import { keyOf as tonKeyOf, walletInit } from './ton-contracts.ts';
import { rawOf } from './ton-node/names.ts';
import { toBase58, toHexAddress } from './tron-node/crypto.ts';
import type { TronChain } from './tron-node.ts';

/** How the newest blocks are replaced. */
export interface Reorganisation {
  /** Blocks. */
  readonly depth: number;
  /** A payment of `pay` that is never on the chain again, if it is not too deep. */
  readonly doubleSpends?: string | null;
  /**
   * An address of which the node then knows no transaction of these blocks, where nodes can forget.
   */
  readonly forgets?: string | null;
}

/**
 * A node in rough hands, which do one thing to it at a time. What is asked of it is what the
 * chain itself says.
 */
export interface RoughChain {
  /** An address without a known key, in the form in which the gateway keeps it. */
  newAddress(dice: Dice): string;
  /** Pays from an ordinary account. Returns the txid. */
  pay(to: string, amount: bigint, contract: string | null, tag?: string | null): Promise<string>;
  mine(): Promise<void>;
  /** @returns whether the double-spend was made. */
  reorganise(how: Reorganisation): Promise<boolean>;
  /** Whether a transaction is on the chain, and did what it should. */
  isMined(txid: string): Promise<boolean>;
  /** What addresses have in the newest block, in smallest units. */
  balances(addresses: readonly string[], contract: string | null): Promise<ReadonlyMap<string, bigint>>;
}

/** Does one thing after the other. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  take<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => {});
    return turn;
  }
}

export class RoughEthereum implements RoughChain {
  readonly #anvil: Anvil;
  readonly #turns = new Turns();
  #payments = 0;

  private constructor(anvil: Anvil) {
    this.#anvil = anvil;
  }

  /** @param token A contract that all payers get plenty of. */
  static async open(anvil: Anvil, token: string): Promise<RoughEthereum> {
    for (const account of anvil.accounts.slice(1)) await anvil.sendToken(token, account, 10n ** 20n);
    await anvil.mine();
    return new RoughEthereum(anvil);
  }

  newAddress(dice: Dice): string {
    return toChecksumAddress(Buffer.from(dice.bytes(20)).toString('hex'));
  }

  pay(to: string, amount: bigint, contract: string | null): Promise<string> {
    // From one account after the other: a dropped payment blocks no payment of another account.
    this.#payments += 1;
    const { accounts } = this.#anvil;
    const from = accounts[this.#payments % accounts.length] ?? '';
    return this.#turns.take(() =>
      contract === null
        ? this.#anvil.send(to, amount, { from })
        : this.#anvil.sendToken(contract, to, amount, { from }),
    );
  }

  mine(): Promise<void> {
    return this.#turns.take(() => this.#anvil.mine());
  }

  reorganise({ depth, doubleSpends = null, forgets = null }: Reorganisation): Promise<boolean> {
    return this.#turns.take(async () => {
      const isWithin = doubleSpends !== null && (await this.#confirmations(doubleSpends)) <= depth;
      if (isWithin) await this.#anvil.doubleSpend(doubleSpends, depth);
      else if (forgets !== null) await this.#anvil.reorgWithout(forgets, depth);
      else await this.#anvil.reorg(depth);
      return isWithin;
    });
  }

  async isMined(txid: string): Promise<boolean> {
    const receipt = await this.#anvil.rpc<{ status: string } | null>('eth_getTransactionReceipt', txid);
    return receipt?.status === '0x1';
  }

  async balances(addresses: readonly string[], contract: string | null): Promise<ReadonlyMap<string, bigint>> {
    const balances = new Map<string, bigint>();
    for (const address of addresses) balances.set(address, await this.#anvil.balance(address, contract));
    return balances;
  }

  /** 0 for what waits; of what the node does not know, more than any depth. */
  async #confirmations(txid: string): Promise<number> {
    const tx = await this.#anvil.rpc<{ blockNumber: string | null } | null>('eth_getTransactionByHash', txid);
    if (tx === null) return Number.POSITIVE_INFINITY;
    return tx.blockNumber === null ? 0 : (await this.#anvil.height()) - Number(tx.blockNumber) + 1;
  }
}

export class RoughLitecoin implements RoughChain {
  readonly #litecoind: Litecoind;
  readonly #turns = new Turns();
  /** Payments of the wallet. */
  readonly #paid: string[] = [];

  private constructor(litecoind: Litecoind) {
    this.#litecoind = litecoind;
  }

  static async open(litecoind: Litecoind): Promise<RoughLitecoin> {
    // All funds of the wallet stay spendable after any reorg. There is no need to spend unconfirmed
    // change, which is lost together with its transaction.
    await litecoind.mineForNobody(100);
    const pieces: [string, bigint][] = [];
    while (pieces.length < 200) pieces.push([await litecoind.newAddress(), 4n * 10n ** 8n]);
    await litecoind.payMany(pieces);
    await litecoind.mineForNobody(1);
    return new RoughLitecoin(litecoind);
  }

  newAddress(dice: Dice): string {
    return encodeP2wpkh('rltc', dice.bytes(20));
  }

  pay(to: string, amount: bigint): Promise<string> {
    return this.#turns.take(async () => {
      const txid = await this.#litecoind.pay(to, amount);
      this.#paid.push(txid);
      return txid;
    });
  }

  mine(): Promise<void> {
    return this.#turns.take(() => this.#litecoind.mineForNobody(1));
  }

  reorganise({ depth, doubleSpends = null }: Reorganisation): Promise<boolean> {
    return this.#turns.take(async () => {
      const isWithin = doubleSpends !== null && (await this.#isReversible(doubleSpends, depth));
      try {
        if (isWithin) await this.#litecoind.doubleSpend(doubleSpends, depth);
        else await this.#litecoind.reorg(depth);
        return isWithin;
      } catch (error) {
        if (!(error instanceof RpcError || error instanceof NoRival)) throw error;
        // A rival of what spends something that is gone itself can be in no block.
        await this.#litecoind.mineForNobody(depth + 1);
        return false;
      } finally {
        await this.#payAgain();
      }
    });
  }

  /**
   * What the wallet paid waits for the height at which it was paid, and a node forgets what is too
   * early.
   */
  async #payAgain(): Promise<void> {
    const waiting = new Set(await this.#litecoind.rpc<string[]>('getrawmempool'));
    for (const txid of this.#paid.slice(-50)) {
      if (waiting.has(txid) || (await this.#confirmations(txid)) !== 0) continue;
      const { hex } = await this.#litecoind.rpc<{ hex: string }>('gettransaction', txid);
      await this.#litecoind.rpc('sendrawtransaction', hex).catch(() => {});
    }
  }

  async isMined(txid: string): Promise<boolean> {
    return (await this.#confirmations(txid)) > 0;
  }

  async balances(addresses: readonly string[]): Promise<ReadonlyMap<string, bigint>> {
    const balances = new Map(addresses.map((address) => [address, 0n]));
    if (addresses.length === 0) return balances;
    const descriptors = addresses.map((address) => `addr(${address})`);
    const { unspents } = await this.#litecoind.rpc<{ unspents: { desc: string; amount: string }[] }>(
      'scantxoutset',
      'start',
      descriptors,
    );
    for (const { desc, amount } of unspents) {
      const address = /^addr\((\w+)\)/.exec(desc)?.[1] ?? '';
      balances.set(address, (balances.get(address) ?? 0n) + (parseCoins(amount) ?? 0n));
    }
    return balances;
  }

  async #isReversible(txid: string, depth: number): Promise<boolean> {
    const confirmations = await this.#confirmations(txid);
    return confirmations >= 0 && confirmations <= depth;
  }

  /** Below 0 for what is in conflict with something on the chain. */
  async #confirmations(txid: string): Promise<number> {
    const { confirmations } = await this.#litecoind.rpc<{ confirmations: string }>('gettransaction', txid);
    return Number.parseInt(confirmations, 10);
  }
}

/** Time between two blocks while the chain is ahead of the clock. Reorganisations make it so. */
const catchUpMs = 100;

/** A simulated Tron. Its blocks follow the clock of this machine. */
export class RoughTron implements RoughChain {
  readonly #chain: TronChain;

  constructor(chain: TronChain) {
    this.#chain = chain;
  }

  newAddress(dice: Dice): string {
    return toBase58(`41${Buffer.from(dice.bytes(20)).toString('hex')}`);
  }

  pay(to: string, amount: bigint, contract: string | null): Promise<string> {
    return this.#chain.pay(to, contract, amount);
  }

  async mine(): Promise<void> {
    const now = Date.now();
    if (now > this.#chain.head.header.timestamp) this.#chain.setTime(now);
    await this.#chain.mine(1, catchUpMs);
  }

  async reorganise({ depth, doubleSpends = null, forgets = null }: Reorganisation): Promise<boolean> {
    const { blocks } = this.#chain;
    const isRecent = blocks
      .slice(-depth)
      .some(({ transactions }) => transactions.some(({ tx }) => tx.txid === doubleSpends));
    const isWithin = doubleSpends !== null && (isRecent || this.#chain.pool.has(doubleSpends));
    await this.#chain.reorg(depth, depth + 1);
    // No chain of this kind has double spends: a transaction is forgotten, and expires.
    if (isWithin) this.#chain.pool.delete(doubleSpends);
    const forgotten = forgets === null ? null : toHexAddress(forgets);
    for (const { txid, call } of [...this.#chain.pool.values()]) if (call.owner === forgotten) this.#chain.drop(txid);
    return isWithin && this.#chain.blockOf(doubleSpends) === null;
  }

  async isMined(txid: string): Promise<boolean> {
    const mined = this.#chain.blockOf(txid)?.transactions.find(({ tx }) => tx.txid === txid);
    return mined?.outcome.result === 'SUCCESS';
  }

  async balances(addresses: readonly string[], contract: string | null): Promise<ReadonlyMap<string, bigint>> {
    const balances = new Map<string, bigint>();
    for (const address of addresses) balances.set(address, await this.#chain.balance(address, contract));
    return balances;
  }
}

/**
 * A simulated XRP Ledger. Nothing is taken back: its servers forget what waits for a ledger
 * instead, and a payment that is forgotten never comes.
 */
export class RoughXrp implements RoughChain {
  readonly #network: RealXrp;

  constructor(network: RealXrp) {
    this.#network = network;
  }

  newAddress(dice: Dice): string {
    return encodeRippleClassic(dice.bytes(20));
  }

  async pay(to: string, amount: bigint, _contract: string | null, tag: string | null = null): Promise<string> {
    const { chain } = this.#network;
    return chain.pay(chain.bank, to, amount, tag === null ? {} : { tag: Number(tag) });
  }

  mine(): Promise<void> {
    return this.#network.mine();
  }

  async reorganise({ doubleSpends = null, forgets = null }: Reorganisation): Promise<boolean> {
    const { pool } = this.#network.chain;
    const forgotten = pool.waiting.filter(({ json, txid }) => json.Account === forgets || txid === doubleSpends);
    for (const { txid } of forgotten) pool.drop(txid);
    return forgotten.some(({ txid }) => txid === doubleSpends);
  }

  async isMined(txid: string): Promise<boolean> {
    return this.#network.chain.find(txid)?.applied.meta.TransactionResult === 'tesSUCCESS';
  }

  async balances(addresses: readonly string[]): Promise<ReadonlyMap<string, bigint>> {
    return new Map(addresses.map((address) => [address, this.#network.chain.balance(address)]));
  }
}

/** A simulated Stellar, in the same hands. */
export class RoughStellar implements RoughChain {
  readonly #network: RealStellar;

  constructor(network: RealStellar) {
    this.#network = network;
  }

  newAddress(dice: Dice): string {
    return encodeStellarAccount(dice.bytes(32));
  }

  async pay(to: string, amount: bigint, _contract: string | null, tag: string | null = null): Promise<string> {
    const { chain } = this.#network;
    return chain.pay(chain.bank, to, amount, { memo: tag === null ? null : BigInt(tag) });
  }

  mine(): Promise<void> {
    return this.#network.mine();
  }

  async reorganise({ doubleSpends = null, forgets = null }: Reorganisation): Promise<boolean> {
    const { pool, bank } = this.#network.chain;
    const isOurs = ({ source }: { readonly source: string }): boolean => source !== bank.address;
    const forgotten = pool.waiting.filter((tx) => (forgets !== null && isOurs(tx)) || tx.txid === doubleSpends);
    for (const { txid } of forgotten) pool.drop(txid);
    return forgotten.some(({ txid }) => txid === doubleSpends);
  }

  async isMined(txid: string): Promise<boolean> {
    return this.#network.chain.find(txid)?.applied.isSuccessful === true;
  }

  async balances(addresses: readonly string[]): Promise<ReadonlyMap<string, bigint>> {
    return new Map(addresses.map((address) => [address, this.#network.chain.balance(address)]));
  }
}

/** Every so many blocks follow a slot without one. */
const skipEvery = 4;

/**
 * A simulated Solana. Nothing is taken back: its leaders forget what waits for a block instead,
 * which then expires unless it is sent again.
 */
export class RoughSolana implements RoughChain {
  readonly #network: RealSolana;

  constructor(network: RealSolana) {
    this.#network = network;
  }

  newAddress(dice: Dice): string {
    return keyOf(Buffer.from(dice.bytes(32)).toString('hex')).address;
  }

  async pay(to: string, amount: bigint, contract: string | null): Promise<string> {
    const { chain, usdc, usdt } = this.#network;
    const mint = [usdc, usdt].find(({ address }) => address === contract);
    return chain.pay(chain.bank, to, amount, mint ? { mint } : {});
  }

  async mine(): Promise<void> {
    const { chain } = this.#network;
    const now = Date.now();
    if (now > chain.head.timeMs + 1_000) chain.setTime(now);
    if (chain.head.height % skipEvery === 0) chain.skip();
    chain.mine();
  }

  async reorganise({ doubleSpends = null, forgets = null }: Reorganisation): Promise<boolean> {
    const { pool } = this.#network.chain;
    const forgotten = pool.waiting.filter((tx) => tx.keys[0] === forgets || idOf(tx) === doubleSpends);
    for (const tx of forgotten) pool.drop(idOf(tx));
    return forgotten.some((tx) => idOf(tx) === doubleSpends);
  }

  async isMined(txid: string): Promise<boolean> {
    return this.#network.chain.find(txid)?.applied.outcome.error === null;
  }

  async balances(addresses: readonly string[], contract: string | null): Promise<ReadonlyMap<string, bigint>> {
    const { chain } = this.#network;
    const of = (address: string): bigint =>
      contract === null ? chain.balance(address) : chain.tokens(address, contract);
    return new Map(addresses.map((address) => [address, of(address)]));
  }
}

/**
 * A block of TON cannot be taken back. Messages of the wallet that wait are forgotten: they are
 * then sent again.
 */
export class RoughTon implements RoughChain {
  readonly #network: RealTon;
  readonly #turns = new Turns();

  constructor(network: RealTon) {
    this.#network = network;
  }

  newAddress(dice: Dice): string {
    const key = tonKeyOf(Buffer.from(dice.bytes(32)).toString('hex'));
    return textOf(contractAddress(0, walletInit('v4r2', key)));
  }

  /** In a block at once: the transaction that receives it names it, and has no name before. */
  pay(to: string, amount: bigint, contract: string | null, tag: string | null = null): Promise<string> {
    return this.#turns.take(async () => {
      const { chain, jetton } = this.#network;
      const sent = Buffer.from(this.#network.pay(to, tag, amount, contract !== null), 'hex').toString('base64');
      await this.#network.mine();
      const account = rawOf(contract === null ? addressOf(to) : jetton.walletOf(addressOf(to)));
      const received = chain.head.executed.find((one) => one.externalHash === sent && one.account === account);
      if (!received) throw new Error('the payment did not arrive');
      return Buffer.from(received.hash, 'base64').toString('hex');
    });
  }

  mine(): Promise<void> {
    return this.#turns.take(() => this.#network.mine());
  }

  async reorganise({ forgets = null }: Reorganisation): Promise<boolean> {
    return this.#turns.take(async () => {
      const { chain } = this.#network;
      const forgotten = chain.waiting.filter(({ to }) => forgets !== null && to.equals(addressOf(forgets)));
      for (const { hash } of forgotten) chain.drop(hash);
      return false;
    });
  }

  async isMined(txid: string): Promise<boolean> {
    const hash = Buffer.from(txid, 'hex').toString('base64');
    return this.#network.chain.blocks.some(({ executed }) => executed.some((one) => one.hash === hash));
  }

  async balances(addresses: readonly string[], contract: string | null): Promise<ReadonlyMap<string, bigint>> {
    const of = (address: string): bigint =>
      contract === null ? this.#network.received(address) : this.#network.tokens(address);
    return new Map(addresses.map((address) => [address, of(address)]));
  }
}
