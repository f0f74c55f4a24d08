import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { Clock } from '../../base/clock.ts';
import { type SqlValue, sql } from '../../base/db/sql.ts';
import { type BlockRef, type Broadcast, ChainError, type Holding, type Transfer } from '../port/chain-adapter.ts';
import { dropMined } from './drop-mined.ts';
import { type ForcedProblem, forcedOnPayment, loseForced } from './forced-payments.ts';
import {
  appendBlock,
  blockHash,
  heightBelow,
  makeBlock,
  type NewBlock,
  openAccount,
  salt,
  undoAbove,
} from './sandbox-blocks.ts';
import { mostOutputs, outputRow, outputRows } from './sandbox-outputs.ts';
import {
  type BlockRow,
  readBalances,
  readHead,
  readHeads,
  readMempool,
  readQuietHeads,
  readRange,
  type SandboxRange,
  timeMs,
  unknownChain,
} from './sandbox-reads.ts';
import { nextHeight, type SandboxRules, usualRules } from './sandbox-rules.ts';
import { encodePayload, openSandboxTx, sandboxTxid } from './sandbox-tx.ts';
import { freeNonce, type OpenedTx, takeTxs, withoutRivals } from './take-txs.ts';
import { type AskedTx, type BlockPoint, type MovedTx, movedBy, type SandboxTxFacts, txFacts } from './tx-facts.ts';

interface SandboxChainOptions {
  readonly orm: MikroORM;
  readonly clock: Clock;
  /** Of all its chains; only tests have others than the usual ones. */
  readonly rules?: SandboxRules;
}

/** Coins that go to an address. */
export interface SandboxOutput {
  readonly to: string;
  readonly tag: string | null;
  readonly contract: string | null;
  /** In the smallest unit. */
  readonly amount: bigint;
  /** They come by a kind of transaction that pays no order. */
  readonly isUnusual?: boolean;
}

/** Coins from outside. */
export interface OutsidePayment extends SandboxOutput {
  /** Further outputs of the same transaction, nine at most. */
  readonly more?: readonly SandboxOutput[];
  /** The clock goes on to make this many blocks. */
  readonly busyBlocks: number;
}

/** Coins that the owner of an account sends without the gateway. */
interface HandMadeSpend extends SandboxOutput {
  /** The account. */
  readonly from: string;
  /** In the smallest unit of the chain's own coin. */
  readonly fee: bigint;
  /** The clock goes on to make this many blocks. */
  readonly busyBlocks: number;
}

interface ReorgOptions {
  /**
   * Whether the transactions of the removed blocks wait for a block again. Otherwise they are
   * dropped.
   */
  readonly keep?: boolean;
  /** How many blocks the new branch has. */
  readonly blocks?: number;
}

/** What decides how a payment from an account is built. */
interface BeforePayment {
  readonly nextNonce: number;
  readonly forced: ForcedProblem | 'fee_spike' | null;
  /** The newest block. */
  readonly head: BlockPoint;
}

const badSignature: Broadcast = { outcome: 'rejected', code: 'bad_signature' };
/** How long the result 'quiet' of a chain may be cached. Changes by this process show at once. */
const quietMs = 50;
/** Intervals between two blocks of a chain that goes on although nothing waits. */
const idleBlocks = 10;
const noParent = '0'.repeat(64);

/**
 * The node of all sandbox chains: blockchains with simple rules that live in PostgreSQL, so that
 * every process sees the same ones. Each writer holds the lock of the chain's row, so that changes
 * come one after another.
 */
export class SandboxChain {
  readonly rules: SandboxRules;
  readonly #orm: MikroORM;
  readonly #clock: Clock;
  #quiet: { readonly at: number; readonly heads: Promise<Map<string, string>> } | null = null;

  constructor({ orm, clock, rules = usualRules }: SandboxChainOptions) {
    this.rules = rules;
    this.#orm = orm;
    this.#clock = clock;
  }

  /**
   * Creates the missing chains, each with a block at height 0. Any number of processes may call it.
   */
  async open(chains: readonly string[]): Promise<void> {
    await this.#read(
      `with named as (
         select value as chain from jsonb_array_elements_text(?::jsonb) order by value
       ), opened as (
         insert into sandbox_chain (chain) select chain from named on conflict do nothing returning chain
       )
       insert into sandbox_block (chain, height, hash, parent, mined_at)
       select chain, 0, ${blockHash('chain', '0', '?')}, ?, ? from opened`,
      [JSON.stringify([...new Set(chains)]), noParent, salt(), noParent, this.#clock.now()],
    );
  }

  /**
   * Sends coins from outside, to one address or in several outputs, and returns the txid. The
   * transaction waits for a block.
   *
   * @param em joins the caller's transaction.
   */
  async pay(
    chain: string,
    { more = [], busyBlocks, ...first }: OutsidePayment,
    em: EntityManager = this.#orm.em.fork(),
  ): Promise<string> {
    if (more.length >= mostOutputs) throw new RangeError(`a transaction has at most ${mostOutputs} outputs`);
    const txid = salt(32);
    const outputs = [first, ...more].map(({ to, tag, contract, amount, isUnusual: unusual = false }, place) => {
      return { place, txid: outputRow(txid, place), to, tag, contract, amount: amount.toString(), unusual };
    });
    const rows = await sql(
      em,
      `with paid as (
         insert into sandbox_tx (chain, txid, recipient, tag, contract, amount, fee, state, seen_at, unusual)
         select c.chain, o.txid, o."to", o.tag, o.contract, o.amount, 0, 'mempool', ?::timestamptz, o.unusual
           from sandbox_chain c cross join jsonb_to_recordset(?::jsonb)
                as o (place integer, txid text, "to" text, tag text, contract text, amount numeric, unusual boolean)
          where c.chain = ?
          order by o.place
       )
       update sandbox_chain set busy_until = greatest(busy_until, height + ?) where chain = ? returning chain`,
      [this.#clock.now(), JSON.stringify(outputs), chain, busyBlocks, chain],
    );
    this.#quiet = null;
    if (rows.length === 0) throw unknownChain(chain);
    return txid;
  }

  /**
   * Sends coins of an account as its owner does who signs by hand, without the gateway, and returns
   * the txid. The transaction has the account's next free nonce and waits for a block. All rules of
   * the chain hold for it. Its signature is not kept.
   *
   * @param joined the caller's transaction.
   * @throws ChainError when the chain refuses it: `insufficient_funds`, `malformed`.
   */
  async spend(chain: string, spend: HandMadeSpend, joined?: EntityManager): Promise<string> {
    const { from, to, tag, contract, amount, fee, busyBlocks } = spend;
    const work = async (em: EntityManager): Promise<string> => {
      const nonce = await freeNonce(em, chain, from);
      const payload = { chain, from, nonce, to, tag, contract, amount: amount.toString(), fee: fee.toString() };
      const tx = { payload, txid: sandboxTxid(encodePayload(payload)), raw: null };
      const [answer] = await takeTxs(em, { chain, txs: [tx], busyBlocks, now: this.#clock.now() });
      if (answer?.outcome === 'accepted') return tx.txid;
      const options = { retryable: false, isOfChain: true };
      throw new ChainError(answer?.code ?? 'refused', `${chain} does not take the transaction`, options);
    };
    return joined ? this.#locked(joined, chain, work) : this.#onChain(chain, work);
  }

  /** The number of transactions to an address and tag; dropped ones do not count. */
  async paymentsTo(chain: string, address: string, tag: string | null): Promise<number> {
    const [row] = await this.#read<{ count: number }>(
      `select count(distinct split_part(txid, ':', 1))::int as count from sandbox_tx
        where chain = ? and recipient = ? and tag is not distinct from ?::text and state <> 'dropped'`,
      [chain, address, tag],
    );
    return row?.count ?? 0;
  }

  /**
   * Accepts signed transactions into the mempool in their order, or says why not. A transaction
   * that was dropped may come again. A higher fee replaces a waiting transaction with the same
   * nonce. A transaction of another chain has no valid signature here.
   */
  async submit(chain: string, raws: readonly string[], busyBlocks: number): Promise<readonly Broadcast[]> {
    const opened = raws.map((raw) => openOn(chain, raw));
    const sound = opened.filter((tx) => tx !== null);
    const answers = await this.#onChain(chain, async (em) => {
      const taken: Broadcast[] = [];
      for (const some of withoutRivals(sound)) {
        taken.push(...(await takeTxs(em, { chain, txs: some, busyBlocks, now: this.#clock.now() })));
      }
      await loseForced(em, chain, sound);
      return taken.values();
    });
    return opened.map((tx) => (tx === null ? undefined : answers.next().value) ?? badSignature);
  }

  /**
   * Makes blocks of the waiting transactions, each block in a separate transaction, or all in the
   * caller's.
   */
  async mine(chain: string, blocks = 1, joined?: EntityManager): Promise<void> {
    const work = (em: EntityManager, height: number): Promise<void> => makeBlock(em, this.#above(chain, height));
    for (let made = 0; made < blocks; made += 1) {
      await (joined ? this.#locked(joined, chain, work) : this.#onChain(chain, work));
    }
  }

  /**
   * Makes one block on each busy chain whose newest block is `blockMs` old. Where payments expire,
   * a chain that is not busy goes on ten times more slowly. Even with many callers, a chain gets
   * one block an interval. Returns the chains that got one.
   */
  async mineDue(blockMs: number): Promise<string[]> {
    const due = `(c.mined_at is null or c.mined_at <= ?)
       and (c.height < c.busy_until
            or exists (select 1 from sandbox_tx t where t.chain = c.chain and t.state = 'mempool')
            or (?::boolean and coalesce(c.mined_at <= ?, true)))`;
    const now = this.#clock.now().getTime();
    const limits = [new Date(now - blockMs), this.rules.expiry !== null, new Date(now - idleBlocks * blockMs)];
    const chains = await this.#read<{ chain: string }>(
      `select c.chain from sandbox_chain c where ${due} order by c.chain`,
      limits,
    );
    const mined: string[] = [];
    for (const { chain } of chains) {
      await this.#orm.em.fork().transactional(async (em) => {
        // Checked again under the lock: another process may have made the block in the meantime.
        const [row] = await sql<{ height: number }>(
          em,
          `select c.height::int as height from sandbox_chain c where c.chain = ? and ${due} for update skip locked`,
          [chain, ...limits],
        );
        if (row === undefined) return;
        await makeBlock(em, this.#above(chain, row.height));
        mined.push(chain);
      });
    }
    if (mined.length > 0) this.#quiet = null;
    return mined;
  }

  /**
   * Replaces the newest `depth` blocks (never the first one) by as many empty ones, so that their
   * transactions wait for a block again. Balances and nonces return to their values before the
   * removed blocks.
   *
   * @throws RangeError where blocks are final at once.
   */
  async reorg(chain: string, depth: number, { keep = true, blocks = depth }: ReorgOptions = {}): Promise<void> {
    if (!this.rules.reorgs) throw new RangeError(`the blocks of ${chain} are final`);
    await this.#onChain(chain, async (em, height) => {
      const left = await heightBelow(em, chain, height, depth);
      await undoAbove(em, chain, left, keep ? 'mempool' : 'dropped');
      await sql(em, 'delete from sandbox_block where chain = ? and height > ?', [chain, left]);
      await sql(em, 'update sandbox_chain set height = ? where chain = ?', [left, chain]);
      for (let made = 0, block = this.#above(chain, left); made < blocks; made += 1) {
        await appendBlock(em, block, []);
        block = this.#above(chain, block.height);
      }
    });
  }

  /** Drops a waiting transaction. Returns whether there was one. */
  async drop(chain: string, txid: string): Promise<boolean> {
    return this.#onChain(chain, async (em) => {
      const rows = await sql(
        em,
        `update sandbox_tx set state = 'dropped'
          where chain = ? and txid in (select jsonb_array_elements_text(?::jsonb)) and state = 'mempool'
          returning txid`,
        [chain, outputRows(txid)],
      );
      return rows.length > 0;
    });
  }

  /**
   * Takes a transaction out of the chain, as a reorganisation does. The blocks from its own on are
   * made again with all their other transactions, each at its old height. A waiting transaction is
   * dropped. Returns false when the chain does not have it, has it deeper than `mostDepth`, or
   * takes nothing back.
   *
   * @param joined the transaction of a partner who forces it, for its order alone.
   */
  async dropMined(chain: string, txid: string, mostDepth: number, joined?: EntityManager): Promise<boolean> {
    if (!this.rules.reorgs) return false;
    const isForced = joined !== undefined;
    const work = (em: EntityManager, height: number): Promise<boolean> =>
      dropMined(em, { chain, height, txid, mostDepth, isForced }, this.#clock.now());
    return joined ? this.#locked(joined, chain, work) : this.#onChain(chain, work);
  }

  /** Makes payments to this address fail: they are mined and move nothing. */
  async refuse(chain: string, address: string): Promise<void> {
    await this.#read('insert into sandbox_refusing (chain, address) values (?, ?) on conflict do nothing', [
      chain,
      address,
    ]);
  }

  /** Ends a refusal. */
  async accept(chain: string, address: string): Promise<void> {
    await this.#read('delete from sandbox_refusing where chain = ? and address = ?', [chain, address]);
  }

  /**
   * Gives an account coins from outside, in a separate block and in the caller's transaction if
   * there is one. The account can pay from then on.
   */
  async fund(
    chain: string,
    address: string,
    contract: string | null,
    amount: bigint,
    joined?: EntityManager,
  ): Promise<void> {
    const work = async (em: EntityManager, height: number): Promise<void> => {
      await openAccount(em, chain, address);
      const txid = salt(32);
      await sql(
        em,
        `insert into sandbox_tx (chain, txid, recipient, contract, amount, fee, state, seen_at, minted)
         values (?, ?, ?, ?, ?, 0, 'mempool', ?, true)`,
        [chain, txid, address, contract, amount.toString(), this.#clock.now()],
      );
      const gift = {
        ...{ txid, account: null, recipient: address, contract, amount, fee: 0n },
        ...{ refused: false, forced: false, waits: true },
      };
      await appendBlock(em, this.#above(chain, height), [gift]);
    };
    await (joined ? this.#locked(joined, chain, work) : this.#onChain(chain, work));
  }

  /** The newest block of every chain. */
  heads(): Promise<Map<string, BlockRef>> {
    return readHeads(this.#orm.em.fork());
  }

  /**
   * Hash of the newest block of a chain without waiting transactions; undefined for a chain with
   * some. One statement answers for all chains, so that idle ones cost nothing.
   */
  async quietHead(chain: string): Promise<string | undefined> {
    const now = performance.now();
    if (!this.#quiet || now - this.#quiet.at > quietMs)
      this.#quiet = { at: now, heads: readQuietHeads(this.#orm.em.fork()) };
    return (await this.#quiet.heads).get(chain);
  }

  /** The newest block. */
  head(chain: string): Promise<BlockRef> {
    return readHead(this.#orm.em.fork(), chain);
  }

  /** The blocks from one height to another, with their transfers, in one statement. */
  range(chain: string, from: number, to: number): Promise<SandboxRange> {
    return readRange(this.#orm.em.fork(), chain, from, to);
  }

  /** The waiting transactions, oldest first. */
  mempool(chain: string): Promise<Transfer[]> {
    return readMempool(this.#orm.em.fork(), chain);
  }

  /**
   * What decides how a payment from an account is built: the account's next nonce, the newest
   * block, and what the order was forced to meet.
   */
  async beforePayment(chain: string, address: string, paymentId: string): Promise<BeforePayment> {
    const [row] = await this.#read<BlockRow & { nonce: number | null; forced: BeforePayment['forced'] }>(
      `select b.height::int as height, b.hash, b.parent, ${timeMs} as time_ms,
              (select nonce::int from sandbox_account where chain = c.chain and address = ?) as nonce,
              (${forcedOnPayment}) as forced
         from sandbox_chain c join sandbox_block b on b.chain = c.chain and b.height = c.height
        where c.chain = ?`,
      [address, paymentId, chain],
    );
    if (row === undefined) throw unknownChain(chain);
    return { nextNonce: row.nonce ?? 0, forced: row.forced, head: { height: row.height, timeMs: row.time_ms } };
  }

  /**
   * The state of each transaction in turn, and whether another one used its sender's nonce.
   *
   * @param depth Confirmations of a final block.
   */
  async facts(chain: string, txs: readonly AskedTx[], depth: number): Promise<readonly SandboxTxFacts[]> {
    const facts = await txFacts(this.#orm.em.fork(), chain, txs, depth);
    if (facts.length === 0 && txs.length > 0) throw unknownChain(chain);
    return facts;
  }

  /** What a transaction moves, and its state; null when the chain has never seen it. */
  async moved(chain: string, txid: string): Promise<MovedTx | null> {
    const found = await movedBy(this.#orm.em.fork(), chain, txid);
    if (found === undefined) throw unknownChain(chain);
    return found;
  }

  /**
   * The mined balances of the holdings, in their order and in one statement. A payment of an
   * account is subtracted from the whole address and from none of its tags.
   */
  balances(chain: string, holdings: readonly Holding[], contract: string | null): Promise<bigint[]> {
    return readBalances(this.#orm.em.fork(), chain, holdings, contract);
  }

  /** The next block. */
  #above(chain: string, below: number): NewBlock {
    return { chain, below, height: nextHeight(this.rules, below), now: this.#clock.now() };
  }

  /** Runs a transaction under the chain's lock, with the chain's height. */
  async #onChain<T>(chain: string, work: (em: EntityManager, height: number) => Promise<T>): Promise<T> {
    try {
      return await this.#orm.em.fork().transactional((em) => this.#locked(em, chain, work));
    } finally {
      this.#quiet = null;
    }
  }

  async #locked<T>(
    em: EntityManager,
    chain: string,
    work: (em: EntityManager, height: number) => Promise<T>,
  ): Promise<T> {
    const [row] = await sql<{ height: number }>(
      em,
      'select height::int as height from sandbox_chain where chain = ? for update',
      [chain],
    );
    if (row === undefined) throw unknownChain(chain);
    return work(em, row.height);
  }

  #read<Row extends object>(text: string, values: readonly SqlValue[]): Promise<Row[]> {
    return sql<Row>(this.#orm.em.fork(), text, values);
  }
}

/** Opens a transaction. Null when its sender did not sign it for this chain. */
function openOn(chain: string, raw: string): OpenedTx | null {
  try {
    const { payload, txid } = openSandboxTx(raw);
    return payload.chain === chain ? { payload, txid, raw } : null;
  } catch {
    return null;
  }
}
