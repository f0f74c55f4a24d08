import { PaymentWriter } from '../../../src/settlement/pay/payment-writer.ts';
import { type ChainLease, ChainLeases, guardLease, LeaseLost } from '../../../src/settlement/turns/chain-lease.ts';
import { type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';

const chain = 'bitcoin';
const leaseMs = 60_000;
let gateway: SettledGateway;

beforeAll(async () => {
  gateway = await startSettledGateway();
});
afterAll(() => gateway?.stop());

const leasesOf = (owner: string): ChainLeases => new ChainLeases(gateway.app.orm, owner, leaseMs, [chain]);

async function taken(leases: ChainLeases): Promise<ChainLease> {
  const [lease] = await leases.renew();
  if (!lease) throw new Error('the chain was not free');
  return lease;
}

/** As after a worker slept past its lease. */
const endLease = () =>
  gateway.query(`update chain_state set lease_until = now() - interval '1 second' where chain = $1`, [chain]);

function guarded(lease: ChainLease): Promise<void> {
  return gateway.app.orm.em.fork().transactional((em) => guardLease(em, lease));
}

describe('the lease of a chain', () => {
  it('is taken by another worker once it has ended, and then its last owner writes nothing', async () => {
    await gateway.query('update chain_state set lease_owner = null, lease_until = null');
    const [first, second] = [
      leasesOf('7d1f2f6e-0000-4000-8000-000000000001'),
      leasesOf('7d1f2f6e-0000-4000-8000-000000000002'),
    ];
    const own = await taken(first);
    await guarded(own);
    expect(await second.renew()).toEqual([]);
    await endLease();
    const other = await taken(second);
    expect(BigInt(other.fence)).toBeGreaterThan(BigInt(own.fence));
    await guarded(other);
    await expect(guarded(own)).rejects.toThrow(LeaseLost);
    await second.release();
    await first.release();
  });
});

describe('a payment', () => {
  it('that another worker has moved on is not changed by one that read it before', async () => {
    const order = await gateway.order();
    await gateway.deposit(order);
    await gateway.settle(order);
    const { orm } = gateway.app;
    const [row] = await gateway.query<{ id: string; chain: string }>(
      'select id, chain from payment where order_id = $1',
      [order.id],
    );
    if (!row) throw new Error('the order has no payment');
    const writer = new PaymentWriter(orm, gateway.clock);
    const [present] = await writer.load([row.id]);
    if (!present) throw new Error('the payment is gone');
    const [lease] = await gateway.query<ChainLease>('select chain, fence::text from chain_state where chain = $1', [
      row.chain,
    ]);
    if (!lease) throw new Error('the chain has no row');
    const changed: string[] = [];
    const change = (payment: typeof present.payment) =>
      writer.change(lease, [payment], (_em, changing) => {
        changed.push(...changing.map(({ payment: { state } }) => state));
      });
    const earlier = Object.assign(Object.create(Object.getPrototypeOf(present.payment)), present.payment, {
      state: 'sent',
    });
    expect(await change(earlier)).toEqual([]);
    expect(changed).toEqual([]);
    expect(await change(present.payment)).toHaveLength(1);
    expect(changed).toEqual(['confirmed']);
  });
});
