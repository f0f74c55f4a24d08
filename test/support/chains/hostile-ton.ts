import { Address, beginCell, Cell } from '@ton/core';
import type { NodeConfig } from '../../../src/chains/networks/network-config.ts';
import type { Dice } from '../gateway/dice.ts';
import { type Credit, HostileNode, shuffled, summed } from './hostile-node.ts';
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
import type { Jetton } from './ton-node/jettons.ts';
import type { TonUser } from './ton-node/users.ts';
import { startTon, type TonChain, type TonNode } from './ton-node.ts';

const ton = 1_000_000_000n;
/** The first amount of a token with 6 decimals that numeric(38,18) cannot hold. */
const beyond = 10n ** 26n;
const dusty = 50_000_000n;

/** An order of a stranger's wallet, and what of it is ours. */
interface HostileMessage {
  readonly message: Outgoing;
  readonly credits: readonly Credit[];
  readonly leftOut?: number;
  /** The admin of the token sends it. */
  readonly isMint?: boolean;
}

export interface HostileTonOptions {
  /** The shared address, which all orders have. */
  readonly ours: string;
}

/**
 * A TON over the real virtual machine, whose users are hostile: what they order is executed, and
 * the index tells it honestly. No block is taken back.
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
    const token = await chain.jetton('USDT', { library: true });
    const other = await chain.jetton('FAKE');
    const stranger = chain.user(1_000_000n * ton);
    for (const jetton of [token, other]) chain.payTokens(jetton, stranger.address, 10n ** 15n);
    const { code, data } = highloadInit({ key: keyOf('the hot wallet') });
    chain.place(this.#address, code as Cell, data as Cell, 100n * ton);
    chain.payTokens(token, this.#address, 1n, { forward: 0n });
    await chain.settle();
    this.#parts = { chain, node: await chain.node(), token, other, stranger };
    this.#add([], 0);
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
      const payer = isMint ? chain.bank : stranger;
      payer.send(message, sendMode.payFees);
    }
    await chain.block();
    const credits = all.flatMap(({ credits: some }) => summed(some));
    this.#add(
      credits,
      all.reduce((sum, { leftOut = 0 }) => sum + leftOut, 0),
    );
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

  #add(credits: readonly Credit[], leftOut: number): void {
    const { seqno, rootHash } = this.#started.chain.head;
    const parent = this.blocks.at(-1)?.hash ?? '';
    const hash = Buffer.from(rootHash, 'base64').toString('hex');
    this.blocks.push({ height: seqno, hash, parent, credits, leftOut, answers: {} });
  }

  #coins(amount: bigint): Credit {
    return { address: this.#options.ours, contract: null, amount };
  }

  #tokens(amount: bigint): Credit {
    return { address: this.#options.ours, contract: this.token, amount };
  }

  /** A payment with the tag of an order. */
  #paid({ contract, amount, tag = null }: Credit): HostileMessage {
    return contract === null ? this.#sent(amount, commentBody(tag)) : this.#transfer(amount, { comment: tag });
  }

  #sent(value: bigint, body: Cell, isCredit = true): HostileMessage {
    const bounce = this.dice.chance(0.5);
    return { message: { to: this.#address, value, bounce, body }, credits: isCredit ? [this.#coins(value)] : [] };
  }

  /** Tokens of the stranger. Coins that are passed on arrive as coins. */
  #transfer(
    amount: bigint,
    { comment = null, forward = 0n, raw }: { comment?: Comment; forward?: bigint; raw?: Cell } = {},
    jetton: Jetton = this.#started.token,
  ): HostileMessage {
    const { stranger, token } = this.#started;
    const isInline = typeof comment === 'string' && comment.length < 20;
    const options = { comment, forward, isInline, ...(raw ? { raw } : {}) };
    const message = stranger.tokenMessage(jetton, this.#address, amount, options);
    const credits = [
      ...(jetton === token && amount > 0n ? [this.#tokens(amount)] : []),
      ...(forward > 0n ? [this.#coins(forward)] : []),
    ];
    return { message, credits };
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
  get #makers(): (() => HostileMessage)[] {
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
      () => this.#sent(0n, commentBody('nothing'), false),
      // What a jetton wallet says, by someone else: the coins are all that comes.
      () => this.#sent(some(), named(opcodes.notification, 10n ** 12n)),
      () => this.#sent(some(), told(10n ** 12n)),
      () => this.#sent(some(), named(opcodes.excesses, 1n)),
      () => this.#sent(some(), named(this.dice.pick([opcodes.transfer, opcodes.burn, 0xffffffff]), 10n ** 12n)),
      // Our jetton wallet believes no stranger, and keeps coins that come without bounce.
      () => ({ message: { to: ourJetton, value: some(), bounce: this.dice.chance(0.5), body: told(5n) }, credits: [] }),
      () => ({ message: { to: ourJetton, value: some(), body: named(opcodes.transfer, 1n) }, credits: [] }),
      () => ({ message: { to: ourJetton, value: some(), body: new Cell() }, credits: [] }),
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
      // Tokens that nobody watches.
      () => this.#transfer(10n ** 9n, { comment: '4711', forward: this.dice.pick([0n, 1n]) }, other),
      // More than the stranger has.
      () => ({ ...this.#transfer(10n ** 18n, { comment: '4711' }), credits: [] }),
      // Made by the token's admin: usual amounts, and more than anything can hold.
      () => {
        const amount = small();
        return { message: token.mintMessage(this.#address, amount), credits: [this.#tokens(amount)], isMint: true };
      },
      () => ({ message: token.mintMessage(this.#address, beyond), credits: [], leftOut: 1, isMint: true }),
      // A state for a wallet that has one.
      () => {
        const { message, credits } = this.#sent(some(), commentBody('state'));
        return { message: { ...message, init: stranger.init }, credits };
      },
      // Strangers among themselves.
      () => ({ message: { to: chain.newUser().address, value: some() }, credits: [] }),
    ];
  }
}
