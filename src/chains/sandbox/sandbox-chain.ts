import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { Clock } from '../../clock.ts';
import {
  type BlockRef,
  type Broadcast,
  ChainError,
  type Holding,
  type ScannedBlock,
  type Transfer,
} from '../chain-adapter.ts';
import { dropMined } from './drop-mined.ts';
import { isFeeForced, loseForced } from './forced-payments.ts';
import { appendBlock, blockHash, makeBlock, openAccount, salt, undoAbove } from './sandbox-blocks.ts';
import { openSandboxTx, type SandboxPayload } from './sandbox-tx.ts';
import { takeTx } from './take-tx.ts';

export interface SandboxChainOptions {
  readonly orm: MikroORM;
  readonly clock: Clock;
}

/** Coins from outside. */
export interface OutsidePayment {
  readonly to: string;
  readonly tag: string | null;
  readonly contract: string | null;
  /** In the smallest unit. */
  readonly amount: bigint;
  /** The clock goes on to make this many blocks. */
  readonly busyBlocks: number;
}

export interface ReorgOptions {
  /**
   * Whether the transactions of the removed blocks wait for a block again. Otherwise they are
   * dropped.
   */
  readonly keep?: boolean;
  /** How many blocks the new branch has. */
  readonly blocks?: number;
}

/** Blocks of a chain, as one statement saw them. */
export interface SandboxRange {
  readonly head: number;
  /** By height. */
  readonly blocks: ReadonlyMap<number, ScannedBlock>;
}

/** The state of a transaction, and of another one that used its nonce. */
export interface SandboxTxFacts {
  readonly head: number;
  readonly tx: {
    readonly state: 'mempool' | 'mined' | 'dropped';
    readonly height: number | null;
    readonly success: boolean | null;
    readonly fee: bigint;
  } | null;
  /** Height of the block that mined the other one. */
  readonly rivalHeight: number | null;
}

/** How long the result 'quiet' of a chain may be cached. Changes by this process show at once. */
const quietMs = 50;
const noParent = '0'.repeat(64);

/**
 * The node of all sandbox chains: blockchains with simple rules that live in PostgreSQL, so that
 * every process sees the same ones. Each writer holds the lock of the chain's row, so that changes
 * come one after another.
 */
export class SandboxChain {
  readonly #orm: MikroORM;
  readonly #clock: Clock;
  #quiet: { readonly at: number; readonly heads: Promise<Map<string, string>> } | null = null;

  constructor({ orm, clock }: SandboxChainOptions) {
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
   * Sends coins from outside to an address and returns the txid. The transaction waits for a block.
   */
  async pay(chain: string, { to, tag, contract, amount, busyBlocks }: OutsidePayment): Promise<string> {
    const txid = salt(32);
    const rows = await this.#read(
      `with paid as (
         insert into sandbox_tx (chain, txid, recipient, tag, contract, amount, fee, state, seen_at)
         select chain, ?, ?, ?, ?, ?::numeric, 0, 'mempool', ?::timestamptz from sandbox_chain where chain = ?
       )
       update sandbox_chain set busy_until = greatest(busy_until, height + ?) where chain = ? returning chain`,
      [txid, to, tag, contract, amount.toString(), this.#clock.now(), chain, busyBlocks, chain],
    );
    this.#quiet = null;
    if (rows.length === 0) throw unknownChain(chain);
    return txid;
  }

  /** The number of transactions to an address and tag; dropped ones do not count. */
  async paymentsTo(chain: string, address: string, tag: string | null): Promise<number> {
    const [row] = await this.#read<{ count: number }>(
      `select count(*)::int as count from sandbox_tx
        where chain = ? and recipient = ? and tag is not distinct from ?::text and state <> 'dropped'`,
      [chain, address, tag],
    );
    return row?.count ?? 0;
  }

  /**
   * Accepts a signed transaction into the mempool, or says why not. A transaction that was dropped
   * may come again. A higher fee replaces a waiting transaction with the same nonce.
   */
  async submit(raw: string, busyBlocks: number): Promise<Broadcast> {
    const opened = openOrNull(raw);
    if (opened === null) return { outcome: 'rejected', code: 'bad_signature' };
    const { chain } = opened.payload;
    return this.#onChain(chain, async (em) => {
      const answer = await takeTx(em, opened, raw, busyBlocks, this.#clock.now());
      await loseForced(em, chain, opened.txid);
      return answer;
    });
  }

  /** Makes blocks of the waiting transactions, each block in a transaction of its own. */
  async mine(chain: string, blocks = 1): Promise<void> {
    for (let made = 0; made < blocks; made += 1) {
      await this.#onChain(chain, (em, height) => makeBlock(em, chain, height, this.#clock.now()));
    }
  }

  /**
   * Makes one block on each busy chain whose newest block is `blockMs` old. Even with many callers,
   * a chain gets one block an interval. Returns the chains that got one.
   */
  async mineDue(blockMs: number): Promise<string[]> {
    const due = `(c.mined_at is null or c.mined_at <= ?)
       and (c.height < c.busy_until
            or exists (select 1 from sandbox_tx t where t.chain = c.chain and t.state = 'mempool'))`;
    const limit = new Date(this.#clock.now().getTime() - blockMs);
    const chains = await this.#read<{ chain: string }>(
      `select c.chain from sandbox_chain c where ${due} order by c.chain`,
      [limit],
    );
    const mined: string[] = [];
    for (const { chain } of chains) {
      await this.#orm.em.fork().transactional(async (em) => {
        // Checked again under the lock: another process may have made the block in the meantime.
        const [row] = await em.execute<{ height: number }[]>(
          `select c.height::int as height from sandbox_chain c where c.chain = ? and ${due} for update skip locked`,
          [chain, limit],
        );
        if (row === undefined) return;
        await makeBlock(em, chain, row.height, this.#clock.now());
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
   */
  async reorg(chain: string, depth: number, { keep = true, blocks = depth }: ReorgOptions = {}): Promise<void> {
    await this.#onChain(chain, async (em, height) => {
      const left = Math.max(0, height - depth);
      await undoAbove(em, chain, left, keep ? 'mempool' : 'dropped');
      await em.execute('delete from sandbox_block where chain = ? and height > ?', [chain, left]);
      await em.execute('update sandbox_chain set height = ? where chain = ?', [left, chain]);
      for (let made = 0; made < blocks; made += 1) {
        await appendBlock(em, chain, left + made, [], this.#clock.now());
      }
    });
  }

  /** Drops a waiting transaction. Returns whether there was one. */
  async drop(chain: string, txid: string): Promise<boolean> {
    return this.#onChain(chain, async (em) => {
      const rows = await em.execute<unknown[]>(
        `update sandbox_tx set state = 'dropped' where chain = ? and txid = ? and state = 'mempool' returning txid`,
        [chain, txid],
      );
      return rows.length > 0;
    });
  }

  /**
   * Takes a transaction out of the chain, as a reorganisation does. The blocks from its own on are
   * made again with all their other transactions, each at its old height. A waiting transaction is
   * dropped. Returns false when the chain does not have it, or has it deeper than `mostDepth`.
   */
  async dropMined(chain: string, txid: string, mostDepth: number): Promise<boolean> {
    return this.#onChain(chain, (em, height) => dropMined(em, { chain, height, txid, mostDepth }, this.#clock.now()));
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
   * Gives an account coins from outside, in a block of its own and in the caller's transaction if
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
      await em.execute(
        `insert into sandbox_tx (chain, txid, recipient, contract, amount, fee, state, seen_at, minted)
         values (?, ?, ?, ?, ?, 0, 'mempool', ?, true)`,
        [chain, txid, address, contract, amount.toString(), this.#clock.now()],
      );
      const gift = { txid, account: null, recipient: address, contract, amount, fee: 0n, refused: false };
      await appendBlock(em, chain, height, [gift], this.#clock.now());
    };
    await (joined ? this.#locked(joined, chain, work) : this.#onChain(chain, work));
  }

  /** The newest block of every chain. */
  async heads(): Promise<Map<string, BlockRef>> {
    const rows = await this.#read<BlockRow & { chain: string }>(
      `select c.chain, b.height::int as height, b.hash, b.parent, ${timeMs} as time_ms
         from sandbox_chain c join sandbox_block b on b.chain = c.chain and b.height = c.height`,
      [],
    );
    return new Map(rows.map(({ chain, ...row }) => [chain, refOf(row)]));
  }

  /**
   * Hash of the newest block of a chain without waiting transactions; undefined for a chain with
   * some. One statement answers for all chains, so that idle ones cost nothing.
   */
  async quietHead(chain: string): Promise<string | undefined> {
    const now = performance.now();
    if (!this.#quiet || now - this.#quiet.at > quietMs) this.#quiet = { at: now, heads: this.#quietHeads() };
    return (await this.#quiet.heads).get(chain);
  }

  async #quietHeads(): Promise<Map<string, string>> {
    const rows = await this.#read<{ chain: string; hash: string }>(
      `select c.chain, b.hash from sandbox_chain c join sandbox_block b on b.chain = c.chain and b.height = c.height
        where not exists (select 1 from sandbox_tx t where t.chain = c.chain and t.state = 'mempool')`,
      [],
    );
    return new Map(rows.map(({ chain, hash }) => [chain, hash]));
  }

  /** The newest block. */
  async head(chain: string): Promise<BlockRef> {
    const [row] = await this.#read<BlockRow>(
      `select b.height::int as height, b.hash, b.parent, ${timeMs} as time_ms
         from sandbox_chain c join sandbox_block b on b.chain = c.chain and b.height = c.height
        where c.chain = ?`,
      [chain],
    );
    if (row === undefined) throw unknownChain(chain);
    return refOf(row);
  }

  /** The blocks from one height to another, with their transfers, in one statement. */
  async range(chain: string, from: number, to: number): Promise<SandboxRange> {
    const rows = await this.#read<RangeRow>(
      `select c.height::int as head, b.height::int as height, b.hash, b.parent, ${timeMs} as time_ms,
              t.txid, t.recipient, t.tag, t.contract, t.amount::text as amount
         from sandbox_chain c
         left join sandbox_block b on b.chain = c.chain and b.height between ? and ?
         left join sandbox_tx t
           on t.chain = b.chain and t.height = b.height and t.state = 'mined' and t.success and not t.minted
        where c.chain = ?
        order by b.height, t.seq`,
      [from, to, chain],
    );
    const [first] = rows;
    if (first === undefined) throw unknownChain(chain);
    const blocks = new Map<number, ScannedBlock & { transfers: Transfer[] }>();
    for (const { height, hash, parent, time_ms, ...tx } of rows) {
      if (height === null || hash === null || parent === null || time_ms === null) continue;
      const block = blocks.get(height) ?? { ref: refOf({ height, hash, parent, time_ms }), transfers: [] };
      blocks.set(height, block);
      if (tx.txid !== null) block.transfers.push(transferOf(tx));
    }
    return { head: first.head, blocks };
  }

  /** The waiting transactions, oldest first. */
  async mempool(chain: string): Promise<Transfer[]> {
    const rows = await this.#read<TransferRow>(
      `select txid, recipient, tag, contract, amount::text as amount
         from sandbox_tx where chain = ? and state = 'mempool' and not minted order by seq`,
      [chain],
    );
    return rows.map(transferOf);
  }

  /** The nonce of an account's next transaction, by the mined ones. */
  async nextNonce(chain: string, address: string): Promise<number> {
    const [row] = await this.#read<{ nonce: number }>(
      'select nonce::int as nonce from sandbox_account where chain = ? and address = ?',
      [chain, address],
    );
    return row?.nonce ?? 0;
  }

  /** Whether the order of a payment was forced to meet a high fee. */
  async isFeeForced(paymentId: string): Promise<boolean> {
    const rows = await this.#read(isFeeForced, [paymentId]);
    return rows.length > 0;
  }

  /** The state of a transaction, and whether another one used its sender's nonce. */
  async facts(chain: string, txid: string, sender: string, nonce: number): Promise<SandboxTxFacts> {
    const [row] = await this.#read<{
      head: number;
      state: 'mempool' | 'mined' | 'dropped' | null;
      height: number | null;
      success: boolean | null;
      fee: string | null;
      rival_height: number | null;
    }>(
      `select c.height::int as head, t.state, t.height::int as height, t.success, t.fee::text as fee,
              r.height::int as rival_height
         from sandbox_chain c
         left join sandbox_tx t on t.chain = c.chain and t.txid = ?
         left join sandbox_tx r
           on r.chain = c.chain and r.sender = ? and r.nonce = ? and r.state = 'mined' and r.txid <> ?
        where c.chain = ?`,
      [txid, sender, nonce, txid, chain],
    );
    if (row === undefined) throw unknownChain(chain);
    const { head, state, height, success, fee } = row;
    return {
      head,
      tx: state === null ? null : { state, height, success, fee: BigInt(fee ?? '0') },
      rivalHeight: row.rival_height,
    };
  }

  /**
   * The mined balances of the holdings, in their order and in one statement. A payment of an
   * account is subtracted from the whole address and from none of its tags.
   */
  async balances(chain: string, holdings: readonly Holding[], contract: string | null): Promise<bigint[]> {
    if (holdings.length === 0) return [];
    const rows = await this.#read<{ amount: string }>(
      `select (case when a.address is not null
                    then coalesce((select b.amount from sandbox_balance b
                                    where b.chain = a.chain and b.address = a.address and b.contract = ?), 0)
                    else (select coalesce(sum(t.amount), 0) from sandbox_tx t
                           where t.chain = ? and t.recipient = h.address and t.state = 'mined' and t.success
                             and t.contract is not distinct from ? and (h.tag is null or t.tag = h.tag))
               end)::text as amount
         from jsonb_to_recordset(?::jsonb) as h (place integer, address text, tag text)
         left join sandbox_account a on a.chain = ? and a.address = h.address and h.tag is null
        order by h.place`,
      [
        contract ?? '',
        chain,
        contract,
        JSON.stringify(holdings.map(({ address, tag }, place) => ({ place, address, tag }))),
        chain,
      ],
    );
    return rows.map(({ amount }) => BigInt(amount));
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
    const [row] = await em.execute<{ height: number }[]>(
      'select height::int as height from sandbox_chain where chain = ? for update',
      [chain],
    );
    if (row === undefined) throw unknownChain(chain);
    return work(em, row.height);
  }

  async #read<Row extends object>(sql: string, params: readonly unknown[]): Promise<Row[]> {
    return this.#orm.em.fork().execute<Row[]>(sql, [...params]);
  }
}

interface TransferRow {
  readonly txid: string | null;
  readonly recipient: string | null;
  readonly tag: string | null;
  readonly contract: string | null;
  readonly amount: string | null;
}

interface BlockRow {
  readonly height: number;
  readonly hash: string;
  readonly parent: string;
  readonly time_ms: number;
}

type RangeRow = TransferRow & { readonly head: number } & { readonly [Name in keyof BlockRow]: BlockRow[Name] | null };

/** The SQL of a block's time, in milliseconds since 1970. */
const timeMs = '(extract(epoch from b.mined_at) * 1000)::float8';

function refOf({ height, hash, parent, time_ms: ms }: BlockRow): BlockRef {
  return { height, hash, parent, timeMs: ms };
}

function unknownChain(chain: string): ChainError {
  return new ChainError('unknown_chain', `there is no sandbox chain ${chain}`, { retryable: false });
}

function openOrNull(raw: string): { payload: SandboxPayload; txid: string } | null {
  try {
    return openSandboxTx(raw);
  } catch {
    return null;
  }
}

function transferOf({ txid, recipient, tag, contract, amount }: TransferRow): Transfer {
  return {
    key: `${txid}:0`,
    txid: txid ?? '',
    address: recipient ?? '',
    tag,
    contract,
    amount: BigInt(amount ?? '0'),
  };
}
