import { randomUUID } from 'node:crypto';
import type { Client } from 'pg';
import { Big, toUnits } from '../../../src/base/money.ts';
import type { ChainAdapter, Transfer } from '../../../src/chains/port/chain-adapter.ts';
import { type Asset, btc, FakeChain, type OrderRow, places, t0, trx, usdt, usdtContract, xrp } from './fake-chain.ts';

export class World {
  readonly bitcoin = new FakeChain('bitcoin');
  readonly tron = new FakeChain('tron');
  readonly ripple = new FakeChain('ripple');
  readonly adapters = new Map<string, ChainAdapter>(
    [this.bitcoin, this.tron, this.ripple].map((chain) => [chain.chain, chain]),
  );
  readonly orders = new Map<string, OrderRow>();
  readonly #db: Client;
  readonly #partner = randomUUID();
  #index = 0;

  constructor(db: Client) {
    this.#db = db;
  }

  async sql(text: string, values: unknown[] = []): Promise<void> {
    await this.#db.query(text, values);
  }

  async insert(table: string, row: Record<string, unknown>): Promise<void> {
    await this.insertTogether([[table, row]]);
  }

  /** Stores rows by one statement, as the database asks of an order and its first event. */
  async insertTogether(rows: readonly (readonly [table: string, row: Record<string, unknown>])[]): Promise<void> {
    const parts = rows.map(([table, row], n) => {
      const columns = Object.keys(row).join(', ');
      return `part${n} as (insert into ${table} (${columns})
        select ${columns} from json_populate_record(null::${table}, $${n + 1}::json))`;
    });
    const values = rows.map(([, row]) => JSON.stringify(row));
    await this.sql(`with ${parts.join(', ')} select`, values);
  }

  /** A change that the database's own rules refuse. */
  async corrupt(text: string, values: unknown[] = []): Promise<void> {
    await this.#db.query('set session_replication_role = replica');
    await this.#db.query(text, values);
    await this.#db.query('set session_replication_role = origin');
  }

  order(name: string): OrderRow {
    const order = this.orders.get(name);
    if (!order) throw new Error(`there is no order ${name}`);
    return order;
  }

  async depositOf(name: string): Promise<string> {
    const { rows } = await this.#db.query('select deposit_id from exchange_order where id = $1', [this.order(name).id]);
    return rows[0].deposit_id;
  }

  async build(): Promise<void> {
    // A seeded database has sandbox chains with a separate book.
    await this.corrupt(
      'truncate ledger_line, ledger_transaction, chain_state, sandbox_fill, deposit_address, exchange_order cascade',
    );
    const isSigned = { require_signature: false, created_at: t0, updated_at: t0 };
    await this.insert('partner', { id: this.#partner, name: 'Partner', status: 'active', ...isSigned });
    await this.sql(
      `insert into deposit_account (keychain, signer, shared_address, created_at) values
         ('bitcoin', 's', null, $1), ('tron', 's', null, $1), ('ripple', 's', 'r-shared', $1)
       on conflict (keychain) do update set shared_address = excluded.shared_address, xpub = null`,
      [t0],
    );
    await this.#opening('bitcoin', btc, '2');
    await this.#opening('tron', usdt, '10000');
    await this.#opening('tron', trx, '500');
    this.bitcoin.hot.set(null, 200_000_000n);
    this.tron.hot.set(usdtContract, 10_000_000_000n);
    this.tron.hot.set(null, 500_000_000n);

    await this.#completed();
    await this.#refunded();
    await this.#withRemainder();
    await this.#stranger();
    await this.#ripening();
    await this.#beingPaid();
    await this.#beingExchanged();
    await this.#withExtra();
    await this.#reversed();
    await this.place('waiting', btc, usdt);
    for (const chain of [this.bitcoin, this.tron, this.ripple]) await this.scanned(chain);
    // The scanner has not seen this one.
    this.bitcoin.mine([this.transfer('ahead', this.order('waiting'), null, 3_000_000n)]);
  }

  /** Notes that the scanner stands at the head, an hour after the orders became due. */
  async scanned(chain: FakeChain): Promise<void> {
    const height = chain.blocks.length - 1;
    await this.sql(
      `insert into chain_state (chain, cursor_blocks, height, head, version, scanned_at) values ($1, $2, $3, $3, 1, $4)
       on conflict (chain) do update
         set cursor_blocks = excluded.cursor_blocks, height = excluded.height, version = chain_state.version + 1`,
      [chain.chain, JSON.stringify(chain.cursor(height)), height, new Date(Date.parse(t0) + 3_600_000)],
    );
  }

  transfer(
    txid: string,
    { address, tag }: Pick<OrderRow, 'address' | 'tag'>,
    contract: string | null,
    amount: bigint,
  ): Transfer {
    return { key: `${txid}:0`, txid, address, tag, contract, amount };
  }

  async place(name: string, from: Asset, to: Asset, path: readonly string[] = []): Promise<OrderRow> {
    const index = ++this.#index;
    const keychain = places[from[1]].chain;
    const target =
      keychain === 'ripple'
        ? { address: 'r-shared', tag: String(index) }
        : { address: `${keychain}-${index}`, tag: null };
    const id = randomUUID();
    const order = { id, name: `${from[0]}-${name.toUpperCase().padEnd(6, 'X').slice(0, 6)}`, ...target };
    this.orders.set(name, order);
    const address = randomUUID();
    await this.sql('begin');
    await this.insert('deposit_address', {
      id: address,
      keychain,
      index,
      ...target,
      created_at: t0,
      leased_at: t0,
    });
    const event = { order_id: id, partner_id: this.#partner, at: t0, cause: 'test', actor: 'system' };
    const placed = {
      id,
      short_id: order.name,
      partner_id: this.#partner,
      status: 'waiting_deposit',
      created_at: t0,
      expires_at: '2027-01-01T01:00:00Z',
      updated_at: t0,
      coin_from: from[0],
      network_from: from[1],
      coin_to: to[0],
      network_to: to[1],
      amount_from_expected: 1,
      amount_to_expected: 1,
      min_amount: 0.000001,
      max_amount: 1_000_000,
      rate_type: 'fixed',
      rate_quoted: 1,
      fee_rate: 0.01,
      service_fee_quoted: 0,
      network_fee_quoted: 0,
      deposit_address_id: address,
      recipient_address: 'user',
      deposit_confirmations_required: 2,
    };
    const statuses = ['waiting_deposit', ...path];
    await this.insertTogether([
      ['exchange_order', placed],
      ['order_event', { ...event, seq: 1, to_status: 'waiting_deposit' }],
    ]);
    for (const [step, status] of path.entries()) {
      const seq = step + 2;
      await this.insert('order_event', { ...event, seq, from_status: statuses[step], to_status: status });
      await this.sql('update exchange_order set status = $2, event_seq = $3 where id = $1', [id, status, seq]);
    }
    await this.sql('commit');
    return order;
  }

  /** A deposit in a new block of its chain; credited and booked unless it still ripens. */
  async deposit(
    order: OrderRow | null,
    asset: Asset,
    amount: string,
    state: 'credited' | 'mined' = 'credited',
  ): Promise<string> {
    const { chain, contract, decimals } = places[asset[1]];
    const id = randomUUID();
    const target = order ?? { address: 'r-shared', tag: '999' };
    const transfer = this.transfer(id, target, contract, toUnits(amount, decimals));
    const { height, hash } = this[chain].mine([transfer]);
    const isCredited = state === 'credited';
    await this.insert('deposit', {
      id,
      chain,
      key: transfer.key,
      order_id: order?.id ?? null,
      txid: id,
      address: target.address,
      tag: target.tag,
      contract,
      coin: asset[0],
      network: asset[1],
      amount,
      state,
      height,
      block_hash: hash,
      confirmations_required: 2,
      credits: isCredited ? 1 : 0,
      seen_at: t0,
      mined_at: t0,
      arrived_by: t0,
      credited_at: isCredited ? t0 : null,
    });
    if (order) {
      await this.sql('update exchange_order set deposit_id = coalesce(deposit_id, $2) where id = $1', [order.id, id]);
    }
    if (isCredited) {
      this[chain].mine();
      await this.book('deposit', `${chain}:${transfer.key}:${hash}`, order, [
        ['deposits', asset, amount],
        [order ? 'client' : 'suspense', asset, `-${amount}`],
      ]);
    }
    return id;
  }

  /**
   * Amounts of the second asset: for the user, service fee, network fee, and what the venue gave.
   */
  async trade(
    order: OrderRow,
    [from, amountFrom]: readonly [Asset, string],
    [to, amountTo, fee, networkFee, bought]: readonly [Asset, string, string, string, string],
    state: 'intended' | 'filled' = 'filled',
  ): Promise<void> {
    await this.insert('trade', {
      order_id: order.id,
      venue: 'sandbox',
      state,
      coin_from: from[0],
      network_from: from[1],
      coin_to: to[0],
      network_to: to[1],
      amount_from: amountFrom,
      amount_to: amountTo,
      service_fee: fee,
      network_fee: networkFee,
      min_bought: 1,
      price_from: 1,
      price_to: 1,
      bought: state === 'filled' ? bought : null,
      created_at: t0,
    });
    await this.insert('sandbox_fill', {
      client_id: order.id,
      sell_coin: from[0],
      sell_amount: amountFrom,
      buy_coin: to[0],
      bought,
      at: t0,
    });
    if (state === 'intended') return;
    const agreed = new Big(amountTo).plus(fee).plus(networkFee);
    await this.book('trade', order.id, order, [
      ['client', from, amountFrom],
      ['venue', from, `-${amountFrom}`],
      ['venue', to, bought],
      ['client', to, `-${amountTo}`],
      ['service_fee', to, `-${fee}`],
      ['network_fee', to, `-${networkFee}`],
      ['trading', to, agreed.minus(bought).toFixed()],
    ]);
  }

  /**
   * A payment; one that is confirmed is booked and has left the hot wallet, together with the
   * chain's fee.
   */
  async payment(
    order: OrderRow,
    depositId: string,
    kind: 'payout' | 'refund',
    asset: Asset,
    amount: string,
    { state = 'confirmed', fee = '0' }: { state?: 'confirmed' | 'sent'; fee?: string } = {},
  ): Promise<string> {
    const { chain, contract, decimals, native, cost } = places[asset[1]];
    const id = randomUUID();
    const isOver = state === 'confirmed';
    await this.insert('payment', {
      id,
      kind,
      order_id: order.id,
      deposit_id: depositId,
      leg: 'main',
      chain,
      coin: asset[0],
      network: asset[1],
      contract,
      address: 'user',
      amount,
      fee_charged: fee,
      state,
      attempt: 1,
      next_action_at: isOver ? null : t0,
      created_at: t0,
      ended_at: isOver ? t0 : null,
    });
    await this.attempt(id, chain, 1, isOver ? 1 : null);
    if (!isOver) return id;
    await this.book('payment', id, order, [
      ['client', asset, new Big(amount).plus(fee).toFixed()],
      ['hot', asset, `-${amount}`],
      ['network_fee', asset, `-${fee}`],
      ['network_cost', native, cost],
      ['hot', native, `-${cost}`],
    ]);
    spend(this[chain], contract, toUnits(amount, decimals));
    spend(this[chain], null, toUnits(cost, decimals));
    return id;
  }

  /**
   * A signed transaction of a payment. Attempts after the first are dead here: only one may live.
   */
  async attempt(payment: string, chain: string, number: number, minedHeight: number | null): Promise<string> {
    const txid = `${payment}-${number}`;
    await this.insert('payment_attempt', {
      payment_id: payment,
      attempt: number,
      chain,
      payload: 'payload',
      reserves: ['nonce:1'],
      fee: 0,
      txid,
      raw: 'raw',
      mined_height: minedHeight,
      prepared_at: t0,
      dead_at: number > 1 ? t0 : null,
      dead_why: number > 1 ? 'conflict' : null,
    });
    return txid;
  }

  async book(
    kind: string,
    reference: string,
    order: OrderRow | null,
    lines: readonly (readonly [account: string, asset: Asset, amount: string])[],
  ): Promise<void> {
    const id = randomUUID();
    await this.sql('begin');
    await this.insert('ledger_transaction', { id, kind, reference, order_id: order?.id ?? null, at: t0 });
    const kept = lines.filter(([, , amount]) => !new Big(amount).eq('0'));
    for (const [index, [account, [coin, network], amount]] of kept.entries()) {
      await this.insert('ledger_line', { transaction_id: id, line: index + 1, account, coin, network, amount });
    }
    await this.sql('commit');
  }

  #opening(chain: string, asset: Asset, amount: string): Promise<void> {
    return this.book('opening', `${chain}:${asset[0]}:1`, null, [
      ['hot', asset, amount],
      ['opening', asset, `-${amount}`],
    ]);
  }

  async #completed(): Promise<void> {
    const order = await this.place('done', btc, usdt, ['confirming', 'exchanging', 'sending', 'completed']);
    const id = await this.deposit(order, btc, '0.01');
    await this.trade(order, [btc, '0.01'], [usdt, '590', '6', '1.5', '598']);
    await this.payment(order, id, 'payout', usdt, '590');
  }

  async #refunded(): Promise<void> {
    const order = await this.place('back', usdt, btc, ['confirming', 'refunding', 'refunded']);
    const id = await this.deposit(order, usdt, '50');
    await this.payment(order, id, 'refund', usdt, '48.5', { fee: '1.5' });
  }

  async #withRemainder(): Promise<void> {
    const order = await this.place('remain', xrp, usdt, ['confirming', 'exchanging', 'sending', 'completed']);
    const id = await this.deposit(order, xrp, '100.1');
    await this.trade(order, [xrp, '100'], [usdt, '190', '2', '1.5', '193']);
    await this.payment(order, id, 'payout', usdt, '190');
    await this.book('unclaimed', id, order, [
      ['client', xrp, '0.1'],
      ['unclaimed', xrp, '-0.1'],
    ]);
  }

  async #stranger(): Promise<void> {
    await this.deposit(null, xrp, '7');
  }

  async #ripening(): Promise<void> {
    const order = await this.place('ripens', xrp, btc, ['confirming']);
    await this.deposit(order, xrp, '42', 'mined');
  }

  /** Mined and not final: 20 USDT and 5 TRX have left and are not booked. */
  async #beingPaid(): Promise<void> {
    const order = await this.place('paying', btc, usdt, ['confirming', 'exchanging', 'sending']);
    const id = await this.deposit(order, btc, '0.001');
    await this.trade(order, [btc, '0.001'], [usdt, '20', '1', '1.5', '22.4']);
    const payment = await this.payment(order, id, 'payout', usdt, '20', { state: 'sent' });
    const mined = {
      state: 'mined',
      height: 1,
      confirmations: 1,
      success: true,
      fee: 5_000_000n,
      final: false,
    } as const;
    this.tron.statuses.set(`${payment}-1`, mined);
    spend(this.tron, usdtContract, 20_000_000n);
    spend(this.tron, null, 5_000_000n);
  }

  /** The venue has filled the trade, and the answer is not recorded. */
  async #beingExchanged(): Promise<void> {
    const order = await this.place('trades', btc, usdt, ['confirming', 'exchanging']);
    await this.deposit(order, btc, '0.002');
    await this.trade(order, [btc, '0.002'], [usdt, '110', '1', '1.5', '113'], 'intended');
  }

  /** A completed order with a second deposit that is not refunded yet. */
  async #withExtra(): Promise<void> {
    const order = await this.place('extra', btc, usdt, ['confirming', 'exchanging', 'sending', 'completed']);
    const id = await this.deposit(order, btc, '0.003');
    await this.deposit(order, btc, '0.004');
    await this.trade(order, [btc, '0.003'], [usdt, '170', '2', '1.5', '173.5']);
    await this.payment(order, id, 'payout', usdt, '170');
  }

  /** A deposit that was credited, and whose block is gone. */
  async #reversed(): Promise<void> {
    const order = await this.place('lost', btc, usdt, ['confirming']);
    const id = await this.deposit(order, btc, '0.5');
    const block = this.bitcoin.blocks.at(-2);
    block?.transfers.splice(0);
    await this.sql(`update deposit set state = 'orphaned', height = null, block_hash = null where id = $1`, [id]);
    await this.book('deposit_reversal', `bitcoin:${id}:0:${block?.ref.hash}`, order, [
      ['deposits', btc, '-0.5'],
      ['client', btc, '0.5'],
    ]);
  }
}

export function spend(chain: FakeChain, contract: string | null, units: bigint): void {
  chain.hot.set(contract, (chain.hot.get(contract) ?? 0n) - units);
}
