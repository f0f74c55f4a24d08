import { Address, beginCell, Cell } from '@ton/core';
import type { NodeConfig } from '../../../src/chains/networks/network-config.ts';
import type { Dice } from '../gateway/dice.ts';
import { type Credit, HostileNode, shuffled } from './hostile-node.ts';
import {
  type Comment,
  commentBody,
  highloadInit,
  internalTransferBody,
  keyOf,
  libraryCell,
  type Outgoing,
  opcodes,
  sendMode,
} from './ton-contracts.ts';
import type { Executed } from './ton-node/blocks.ts';
import type { Jetton } from './ton-node/jettons.ts';
import { cellsOf } from './ton-node/json.ts';
import { rawOf } from './ton-node/names.ts';
import type { TonUser } from './ton-node/users.ts';
import { startTon, type TonChain, type TonNode } from './ton-node.ts';

const ton = 1_000_000_000n;
/** The first amount of a token with 6 decimals that numeric(38,18) cannot hold. */
const beyond = 10n ** 26n;
const dusty = 50_000_000n;

/** A message of a stranger, or of the token's admin. */
interface Hostile {
  readonly message: Outgoing;
  readonly isMint?: boolean;
}

export interface HostileTonOptions {
  /** The shared address, which all orders have. */
  readonly ours: string;
}

/**
 * A TON over the real virtual machine, whose users are hostile: what they order is executed, and
 * the index tells it honestly. What came to us is what our accounts hold afterwards, not what
 * messages say. No block is taken back.
 */
export class HostileTon extends HostileNode {
  readonly #options: HostileTonOptions;
  #parts: {
    readonly chain: TonChain;
    readonly node: TonNode;
    readonly token: Jetton;
    readonly other: Jetton;
    readonly stranger: TonUser;
  } | null = null;

  constructor(dice: Dice, options: HostileTonOptions) {
    super(dice);
    this.#options = options;
  }

  override async start(): Promise<this> {
    const chain = await startTon({ name: this.hash() });
    const token = await chain.jetton('USDT', { library: true, kind: this.dice.pick(['standard', 'governed']) });
    const other = await chain.jetton('FAKE');
    const stranger = chain.user(1_000_000n * ton);
    for (const jetton of [token, other]) chain.payTokens(jetton, stranger.address, 10n ** 15n);
    if (this.dice.chance(0.5)) {
      const { code, data } = highloadInit({ key: keyOf('the hot wallet') });
      chain.place(this.#address, code as Cell, data as Cell, 100n * ton);
    }
    chain.payTokens(token, this.#address, 1n, { forward: 0n });
    await chain.settle();
    await chain.block();
    this.#parts = { chain, node: await chain.node(), token, other, stranger };
    this.#add();
    return this;
  }

  override stop(): Promise<void> {
    return this.#parts?.chain.stop() ?? Promise.resolve();
  }

  override get config(): NodeConfig {
    return this.#started.node.config;
  }

  /** Of the network. */
  get globalId(): number {
    return this.#started.chain.globalId;
  }

  /** The master of the token that is watched, with 6 decimals, as the database has it. */
  get token(): string {
    return this.#started.token.master.toString({ bounceable: false });
  }

  async append(honest: Credit | null): Promise<void> {
    const { chain, stranger } = this.#started;
    const hostile = this.some(Math.floor(this.dice.between(0, 6)), this.#makers);
    const all = shuffled(this.dice, [...hostile, ...(honest === null ? [] : [this.#paid(honest)])]);
    for (const { message, isMint = false } of all) {
      (isMint ? chain.bank : stranger).send(message, sendMode.payFees);
    }
    await chain.block();
    this.#add();
  }

  override reorg(): void {
    throw new Error('no block of TON is taken back');
  }

  protected answer(): never {
    throw new Error('the index answers');
  }

  get #started() {
    if (this.#parts === null) throw new Error('the chain was not started');
    return this.#parts;
  }

  get #address(): Address {
    return Address.parse(this.#options.ours);
  }

  #add(): void {
    const { seqno, rootHash, executed } = this.#started.chain.head;
    const parent = this.blocks.at(-1)?.hash ?? '';
    const hash = Buffer.from(rootHash, 'base64').toString('hex');
    const all = executed.flatMap((one) => this.#creditOf(one));
    const [credits, leftOut] = [
      all.filter(({ amount }) => amount < beyond),
      all.filter(({ amount }) => amount >= beyond),
    ];
    this.blocks.push({ height: seqno, hash, parent, credits, leftOut: leftOut.length, answers: {} });
  }

  /** What a transaction brought: coins that did not bounce, or tokens of our jetton wallet. */
  #creditOf({ account, tx, before, after }: Executed): Credit[] {
    const { token } = this.#started;
    const address = this.#options.ours;
    if (account === rawOf(this.#address) && tx.inMessage?.info.type === 'internal') {
      const { description } = tx;
      const isBack = description.type === 'generic' && description.bouncePhase?.type === 'ok';
      const amount = tx.inMessage.info.value.coins;
      return isBack || amount === 0n ? [] : [{ address, contract: null, amount }];
    }
    if (account !== rawOf(token.walletOf(this.#address))) return [];
    const amount = token.balanceIn(cellsOf(after).data) - token.balanceIn(cellsOf(before).data);
    return amount > 0n ? [{ address, contract: this.token, amount }] : [];
  }

  /** A payment with the tag of an order. */
  #paid({ contract, amount, tag = null }: Credit): Hostile {
    return contract === null ? this.#sent(amount, commentBody(tag), false) : this.#transfer(amount, { comment: tag });
  }

  #sent(value: bigint, body: Cell, bounce = this.dice.chance(0.5)): Hostile {
    return { message: { to: this.#address, value, bounce, body } };
  }

  /** Tokens of the stranger. Coins that are passed on arrive as coins. */
  #transfer(
    amount: bigint,
    { comment = null, forward = 0n, raw }: { comment?: Comment; forward?: bigint; raw?: Cell } = {},
    jetton: Jetton = this.#started.token,
  ): Hostile {
    const isInline = typeof comment === 'string' && comment.length < 20;
    const options = { comment, forward, isInline, ...(raw ? { raw } : {}) };
    return { message: this.#started.stranger.tokenMessage(jetton, this.#address, amount, options) };
  }

  get #comments(): readonly Comment[] {
    return [
      null,
      '',
      ' 4711 ',
      '\u0000\u202e<b>',
      'ü'.repeat(3_000),
      { binary: Buffer.from([0xff, 0xfe, 0x00]) },
      { encrypted: Buffer.from(this.hex(160), 'hex') },
      { cell: beginCell().storeUint(0, 32).storeBit(true).endCell() },
      { cell: beginCell().storeUint(0, 31).endCell() },
      // Text that goes on in a cell that no index can read.
      { cell: beginCell().storeUint(0, 32).storeStringTail('47').storeRef(libraryCell(new Cell())).endCell() },
      // Cells below cells, without text.
      { cell: Array.from({ length: 300 }).reduce<Cell>((inner) => beginCell().storeRef(inner).endCell(), new Cell()) },
    ];
  }

  /** Makers of messages that any user can send. */
  get #makers(): (() => Hostile)[] {
    const { token, other, stranger, chain } = this.#started;
    const small = (): bigint => BigInt(Math.floor(this.dice.between(1, 1e6)));
    const some = (): bigint => dusty + small();
    const ourJetton = token.walletOf(this.#address);
    const told = (amount: bigint): Cell => {
      const parts = { from: stranger.address, response: stranger.address };
      return internalTransferBody(amount, parts, { amount: 0n, comment: '4711' });
    };
    const named = (code: number, amount: bigint): Cell =>
      beginCell().storeUint(code, 32).storeUint(0, 64).storeCoins(amount).storeAddress(stranger.address).endCell();
    return [
      () => this.#sent(some(), commentBody(this.dice.pick(this.#comments))),
      // Dust that costs more than it brings, and nothing at all.
      () => this.#sent(1n, commentBody('dust')),
      () => this.#sent(0n, commentBody('nothing')),
      // What a jetton wallet says, by someone else: the coins are all that comes.
      () => this.#sent(some(), named(opcodes.notification, 10n ** 12n)),
      () => this.#sent(some(), told(10n ** 12n)),
      () => this.#sent(some(), named(opcodes.excesses, 1n)),
      () => this.#sent(some(), named(this.dice.pick([opcodes.transfer, opcodes.burn, 0xffffffff]), 10n ** 12n)),
      // Our jetton wallet believes no stranger, and keeps coins that come without bounce.
      () => ({ message: { to: ourJetton, value: some(), bounce: this.dice.chance(0.5), body: told(5n) } }),
      () => ({ message: { to: ourJetton, value: some(), body: named(opcodes.transfer, 1n) } }),
      () => ({ message: { to: ourJetton, value: some(), body: new Cell() } }),
      // Tokens with each kind of payload, with and without coins.
      () => this.#transfer(small(), { comment: this.dice.pick(this.#comments), forward: this.dice.pick([0n, 1n, 7n]) }),
      () => {
        const odd = [
          beginCell().storeBit(true).endCell(),
          beginCell().storeBit(false).storeUint(0, 7).endCell(),
          beginCell().storeBit(true).storeRef(new Cell()).storeRef(new Cell()).endCell(),
        ];
        return this.#transfer(small(), { raw: this.dice.pick(odd), forward: this.dice.pick([0n, 1n]) });
      },
      () => this.#transfer(0n, { comment: '4711', forward: 1n }),
      // Tokens that are not watched.
      () => this.#transfer(10n ** 9n, { comment: '4711', forward: this.dice.pick([0n, 1n]) }, other),
      // More than the stranger has.
      () => this.#transfer(10n ** 18n, { comment: '4711' }),
      // Made by the token's admin: usual amounts, and more than anything can hold.
      () => ({ message: token.mintMessage(this.#address, this.dice.pick([small(), beyond])), isMint: true }),
      // A state for a wallet that has one.
      () => ({ message: { ...this.#sent(some(), commentBody('state')).message, init: stranger.init } }),
      // Strangers among themselves.
      () => ({ message: { to: chain.newUser().address, value: some() } }),
    ];
  }
}
