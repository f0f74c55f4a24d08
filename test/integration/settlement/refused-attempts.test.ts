import { ChainError } from '../../../src/chains/port/chain-adapter.ts';
import { SignerError } from '../../../src/chains/port/signer.ts';
import { confirm, faults, gateway, payments, status, withFaultyGateway } from '../../support/gateway/faulty-gateway.ts';

withFaultyGateway();

const refusal = () =>
  Promise.reject(
    new SignerError('refused', 'attempt 1 of payment p may still confirm; a further one may be asked for'),
  );

describe('a further attempt that the signer refuses for a time', () => {
  it('is built again every 300 s, counts as no death, reserves nothing, and goes out once', async () => {
    const order = await gateway.order();
    faults.broadcast = async () => {};
    await confirm(order);
    const [payment] = await payments(order);
    expect(payment).toMatchObject({ state: 'sent' });
    const attempts = async (): Promise<(string | null)[]> => {
      const rows = await gateway.query<{ why: string | null }>(
        'select dead_why as why from payment_attempt where payment_id = $1 order by attempt',
        [payment?.id],
      );
      return rows.map(({ why }) => why);
    };
    const reserved = () =>
      gateway.query('select resource from payment_reservation where payment_id = $1 and released_at is null', [
        payment?.id,
      ]);

    faults.status = () => ({ state: 'dead', why: 'conflict', final: true });
    faults.signing = refusal;
    gateway.clock.advance(6_000);
    await gateway.tick();
    faults.status = null;
    faults.broadcast = null;
    await gateway.tick();
    const expected: (string | null)[] = ['conflict', 'never_signed'];
    expect(await attempts()).toEqual(expected);
    // More often than a payment may die.
    for (let time = 1; time <= 5; time++) {
      gateway.clock.advance(299_999);
      await gateway.tick();
      expect(await attempts()).toEqual(expected);
      gateway.clock.advance(1);
      await gateway.tick();
      expected.push('never_signed');
      expect(await attempts()).toEqual(expected);
      expect(await payments(order)).toMatchObject([{ state: 'ready', problem: 'signer_refused' }]);
      expect(await reserved()).toEqual([]);
    }

    faults.signing = null;
    // Its payout, of another amount, takes the nonce of the dead attempt.
    const other = await gateway.order({ amount_from: 0.02 });
    await confirm(other);
    gateway.clock.advance(300_000);
    for (const each of [other, order]) await gateway.settle(each);
    expect(await status(other)).toBe('completed');
    expect(await status(order)).toBe('completed');
    expect(await payments(order)).toMatchObject([{ id: payment?.id, state: 'confirmed' }]);
    expect(await attempts()).toEqual([...expected, null]);
  });
});

it('only what the recipient, the token or the amount causes ends a payment that cannot be built', async () => {
  const endings = new Map([
    ['would_fail', 'failed'],
    ['gas_above_maximum', 'failed'],
    ['token_refused', 'failed'],
    // The order could be refunded, although an earlier attempt may have paid.
    ['earlier_may_confirm', 'sending'],
    ['no_ticket', 'sending'],
    ['no_channel', 'sending'],
    ['insufficient_funds', 'sending'],
    ['hot_wallet_low', 'sending'],
    ['unconfirmed_refusal', 'sending'],
    ['nodes_disagree', 'sending'],
  ]);
  const left = [...endings.keys()];
  const codes = new Map<string, string>();
  faults.preparing = ({ id }) => {
    const code = codes.get(id) ?? left.shift() ?? 'would_fail';
    codes.set(id, code);
    throw new ChainError(code, 'refused by the test', { isOfChain: true });
  };
  const orders = await Promise.all([...endings].map(() => gateway.order()));
  for (const order of orders) await confirm(order);
  // Each waits at most ten minutes between two tries.
  for (let hour = 0; hour <= 48; hour += 6) {
    gateway.clock.advance(6 * 3_600_000);
    await gateway.tick();
  }
  const ends = async (): Promise<Map<string | undefined, string>> => {
    const rows = await gateway.query<{ id: string; status: string }>(
      'select p.id, o.status from payment p join exchange_order o on o.id = p.order_id where p.id = any ($1)',
      [[...codes.keys()]],
    );
    return new Map(rows.map(({ id, status: end }) => [codes.get(id), end]));
  };
  expect(await ends()).toEqual(endings);

  faults.preparing = null;
  gateway.clock.advance(600_000);
  for (const order of orders) await gateway.settle(order);
  expect(await ends()).toEqual(
    new Map([...endings].map(([code, end]) => [code, end === 'failed' ? end : 'completed'])),
  );
});
