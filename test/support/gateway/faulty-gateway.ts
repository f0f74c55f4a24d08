import { randomBytes } from 'node:crypto';
import { Big } from '../../../src/base/money.ts';
import { Faults } from '../faults/faults.ts';
import { type MadeOrder, type SettledGateway, startSettledGateway } from './settled-gateway.ts';

export const faults = new Faults();
export let gateway: SettledGateway;
export let first: string;
export let second: string;

/** Ends the worker's lease on a chain, as another process does that takes the chain over. */
export function changeHands(chain = 'bitcoin'): Promise<object[]> {
  return gateway.query(
    'update chain_state set fence = fence + 1, lease_owner = null, lease_until = null where chain = $1',
    [chain],
  );
}

export interface PaymentRow {
  readonly id: string;
  readonly kind: string;
  readonly leg: string;
  readonly state: string;
  readonly amount: string;
  readonly address: string;
  readonly problem: string | null;
}

export function payments({ id }: MadeOrder): Promise<PaymentRow[]> {
  return gateway.query<PaymentRow>(
    `select id, kind, leg, state, trim_scale(amount)::text as amount, address, problem
       from payment where order_id = $1 order by number`,
    [id],
  );
}

/** Amounts that the order's user is still owed, by coin. */
export async function owed({ id }: MadeOrder): Promise<Record<string, string>> {
  const rows = await gateway.query<{ coin: string; owed: string }>(
    `select coin, trim_scale(-sum(amount))::text as owed from ledger_line l join ledger_transaction t on t.id = l.transaction_id
      where t.order_id = $1 and account = 'client' group by coin having sum(amount) <> 0`,
    [id],
  );
  return Object.fromEntries(rows.map(({ coin, owed }) => [coin, owed]));
}

export async function status(order: MadeOrder): Promise<string> {
  return (await gateway.show(order)).status;
}

export async function networkFee(coin: string, network: string): Promise<Big> {
  return new Big(gateway.app.catalogue.find(coin, network)?.networkFee ?? '0');
}

/** Sends and confirms a deposit of the order, and lets settlement run once. Returns the txid. */
export async function confirm(
  order: MadeOrder,
  changes: Parameters<SettledGateway['deposit']>[1] = {},
): Promise<string> {
  const txid = await gateway.deposit(order, changes);
  await gateway.mine(order.networkFrom, 2);
  await gateway.tick();
  return txid;
}

/** Shows settlement a deposit in the mempool that no block takes. Returns its txid. */
export async function waitInMempool(
  { depositAddress: address, depositTag: tag }: MadeOrder,
  amount = 1_000_000n,
): Promise<string> {
  const txid = randomBytes(32).toString('hex');
  const transfer = { key: `${txid}:0`, txid, address, tag, contract: null, amount };
  faults.stuck = { chain: 'bitcoin', transfer };
  await gateway.tick();
  return txid;
}

export async function staffRefund(order: MadeOrder, address: string): Promise<void> {
  const recipient = { address, tag: null };
  const { staffActions } = gateway.settlement;
  const asked = { action: 'refund', staffId: first, orderId: order.id, recipient, reason: 'the user asked' } as const;
  const proposal = await staffActions.propose(asked);
  expect(await status(order)).toBe('failed');
  await expect(staffActions.approve(proposal.id, first)).rejects.toMatchObject({ kind: 'second_member_needed' });
  await staffActions.approve(proposal.id, second);
}

/**
 * Starts a gateway whose chains, signer and venue may fail, for the tests of the file. The ledger
 * sums to zero after each test. At the end it agrees with the chains, except for debits when the
 * file `losesDeposits` of paid orders.
 */
export function withFaultyGateway({ losesDeposits = false } = {}): void {
  beforeAll(async () => {
    gateway = await startSettledGateway({ outside: faults.outside() });
    first = (await gateway.staff.create('first@example.com', 'operator')).member.id;
    second = (await gateway.staff.create('second@example.com', 'operator')).member.id;
  });
  afterAll(async () => {
    try {
      const differences = await gateway.differences();
      expect(differences.filter(({ check }) => !losesDeposits || check !== 'debits')).toEqual([]);
    } finally {
      await gateway?.stop();
    }
  });
  afterEach(async () => {
    faults.broadcast = null;
    faults.status = null;
    faults.stuck = null;
    faults.pending = null;
    faults.scan = null;
    faults.preparing = null;
    faults.feeFactor = 1n;
    faults.signerAway = false;
    faults.signing = null;
    faults.revoking = null;
    faults.venue = null;
    const unbalanced = await gateway.query(
      'select coin, sum(amount) from ledger_line group by coin having sum(amount) <> 0',
    );
    expect(unbalanced).toEqual([]);
  });
}
