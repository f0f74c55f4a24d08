import { transfersOf } from '../../../src/chains/evm/evm-transfers.ts';
import type { Transfer } from '../../../src/chains/port/chain-adapter.ts';
import { readTransfers } from '../../../src/chains/utxo/utxo-block.ts';
import { type Arrival, summed } from '../../../src/settlement/scan/arrivals.ts';

const block = { height: 1, hash: 'b', parent: 'a' };

/** Transfers as arrivals of the order of their address; its name is the address. */
function arrivals(transfers: readonly Transfer[], changes: Partial<Arrival['target']> = {}): Arrival[] {
  return transfers.map((transfer) => ({
    transfer,
    block,
    target: { purpose: 'order', orderId: transfer.address, index: 0, required: 1, orderNetwork: 'N', ...changes },
    asset: { coin: transfer.contract ?? 'COIN', network: 'N', decimals: 8 },
    confirmationsRequired: 1,
  }));
}

function sums(all: readonly Arrival[]): [string, bigint, string[]][] {
  return summed(all).map(({ transfer: { key, amount }, parts = [] }) => [
    key,
    amount,
    parts.map((part) => part.transfer.key),
  ]);
}

function output(changes: Partial<Transfer> = {}): Transfer {
  return { key: 't:0', txid: 't', address: 'a', tag: null, contract: null, amount: 1n, ...changes };
}

describe('the outputs of one transaction to one order', () => {
  it('are one payment, named by the first of them', () => {
    const found = ['t:10', 't:2', 't:1'].map((key, index) => output({ key, amount: BigInt(index + 1) }));
    expect(sums(arrivals(found))).toEqual([['t:1', 6n, ['t:1', 't:2', 't:10']]]);
  });

  it.each([
    ['another transaction', { txid: 'u' }],
    ['another order', { address: 'b' }],
    ['another tag', { tag: '7' }],
    ['another token', { contract: 'c' }],
  ])('are two payments when one is of %s', (_what, changes) => {
    expect(sums(arrivals([output(), output({ key: 't:1', ...changes })]))).toEqual([
      ['t:0', 1n, []],
      ['t:1', 1n, []],
    ]);
  });

  it('stay single where the tag belongs to no order', () => {
    expect(sums(arrivals([output(), output({ key: 't:1' })], { orderId: null }))).toHaveLength(2);
  });

  it('are not summed with themselves, seen before a block holds them and in it', () => {
    for (const orderId of ['a', null]) {
      const seen = arrivals([output()], { orderId });
      const found = summed([...seen.map((arrival) => ({ ...arrival, block: null })), ...seen]);
      expect(found.map(({ transfer: { amount } }) => amount)).toEqual([1n, 1n]);
    }
  });

  it('are found in a transaction of bitcoin and its kin', () => {
    const to = (n: string, value: string) => ({
      n,
      value,
      scriptPubKey: { type: 'witness_v0_keyhash', address: 'mine' },
    });
    const transfers = readTransfers({ vout: [to('0', '0.5'), to('1', '0.25')] }, 'f'.repeat(64));
    expect(sums(arrivals(transfers))).toEqual([[`${'f'.repeat(64)}:0`, 75_000_000n, transfers.map(({ key }) => key)]]);
  });

  it('are found in the logs of a token', () => {
    const txid = `0x${'1'.repeat(64)}`;
    const token = `0x${'2'.repeat(40)}`;
    const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
    const log = (amount: string) => ({
      address: token,
      topics: [transferTopic, `0x${'0'.repeat(64)}`, `0x${'0'.repeat(24)}${'3'.repeat(40)}`],
      data: `0x${amount.padStart(64, '0')}`,
    });
    const from = `0x${'4'.repeat(40)}`;
    const receipt = { txid, from, to: token, success: true, logs: [log('5'), log('7')] };
    const evmBlock = { transactions: [{ txid, from, to: token, value: 0n }] };
    const transfers = transfersOf(
      evmBlock as unknown as Parameters<typeof transfersOf>[0],
      new Map([[txid, receipt]]) as unknown as Parameters<typeof transfersOf>[1],
      new Map(),
      new Map([[token, token]]),
    );
    const [[key, amount, parts] = []] = sums(arrivals(transfers));
    expect([amount, parts]).toEqual([12n, transfers.map((one) => one.key)]);
    // Another block may make the transaction pay other amounts, which are another payment.
    expect(key).toMatch(new RegExp(`^${transfers[0]?.key}\\+[0-9a-f]{16}$`));
  });
});
