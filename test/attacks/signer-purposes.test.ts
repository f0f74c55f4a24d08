import { randomUUID } from 'node:crypto';
import { fromUnits } from '../../src/base/money.ts';
import { evmTraits } from '../../src/chains/evm/evm-traits.ts';
import { loadNetworks } from '../../src/chains/families/network-file.ts';
import type { PaymentPurpose } from '../../src/chains/port/chain-adapter.ts';
import { SignerError } from '../../src/chains/port/signer.ts';
import type { TransactionSigner } from '../../src/chains/port/transaction-signer.ts';
import { chainCoins } from '../../src/market/currencies/chain-coins.ts';
import { liveLimits } from '../../src/signer/live-limits.ts';
import { type LocalSigner, openLocalSigner } from '../../src/signer/local-signer.ts';
import { client, dir, entropy, serve, withSocketSigner } from '../support/chains/signer-socket.ts';
import { TestClock } from '../support/gateway/clock.ts';

// An attacker in a gateway holds the signer's secret, and asks for payments to an address of the
// attacker. The signer has the limits of networks.example.yaml. They bound what the attacker gets,
// under each name of a payment.

withSocketSigner();

/** Reads no bytes, so that only the limits refuse. */
const anything: TransactionSigner = {
  traits: evmTraits,
  hotWallet: () => 'home',
  isHotWallet: (_chain, address) => address === 'home',
  open: (_chain, { id }) => ({ faults: [], sign: () => ({ txid: `txid-${id}`, raw: `signed ${id}` }) }),
};

const ethereum = loadNetworks('networks.example.yaml', chainCoins).networks.find(({ chain }) => chain === 'ethereum');
if (!ethereum) throw new Error('networks.example.yaml has no ethereum');
const limits = liveLimits(ethereum, chainCoins('ethereum'));
const decimals = new Map(chainCoins('ethereum').map((one) => [one.coin, one.decimals]));
const clock = new TestClock();
let signer: LocalSigner;

async function open(): Promise<void> {
  signer = await openLocalSigner({
    ...{ entropy, dataDir: dir, clock, limits: new Map([['ethereum', limits]]) },
    live: () => new Map([['ethereum', anything]]),
  });
}

beforeEach(async () => {
  await open();
  await serve({ sign: (...args) => signer.sign(...args) });
});
afterEach(() => signer.close());

/** All that is signed of an asset for one purpose, by ever smaller amounts; in whole coins. */
async function stolen(coin: string, purpose: PaymentPurpose): Promise<string> {
  const contract = coin === 'ETH' ? null : (ethereum?.tokens.get(coin) ?? '');
  const places = decimals.get(coin) ?? 0;
  let amount = limits.assets.get(contract ?? '')?.perPayment ?? 0n;
  let total = 0n;
  while (amount > 0n) {
    const intent = { id: randomUUID(), attempt: 1, purpose, from: null, contract, to: 'thief', tag: null, amount };
    const tx = { payload: intent.id, reserves: [intent.id], fee: 1n, expiresAt: null };
    try {
      await client.sign('ethereum', intent, tx);
      total += amount;
    } catch (error) {
      if (!(error instanceof SignerError) || error.code !== 'refused') throw error;
      amount /= 10n;
    }
  }
  return fromUnits(total, places);
}

describe('a gateway that an attacker controls', () => {
  it.each([
    ['ETH', '6', '54'],
    ['USDT', '20000', '180000'],
    ['USDC', '20000', '180000'],
  ])('gets a tenth of a day of %s as commission, and with all other names no more than the day', async (coin, tenth, rest) => {
    expect(await stolen(coin, 'commission')).toBe(tenth);
    // A restart of the signer opens no room.
    await signer.close();
    await open();
    expect(await stolen(coin, 'commission')).toBe('0');
    expect(await stolen(coin, 'payout')).toBe(rest);
    for (const purpose of ['payout', 'refund', 'gas', 'commission'] as const) {
      expect(await stolen(coin, purpose)).toBe('0');
    }
    clock.advance(86_400_000);
    expect(await stolen(coin, 'commission')).toBe(tenth);
  });

  it('gets nothing out of the limits by calling a payment a sweep or a set-up', async () => {
    for (const purpose of ['sweep', 'setup'] as const) expect(await stolen('USDT', purpose)).toBe('0');
  });

  it('does not get a transaction signed again under another purpose, as if it were another payment', async () => {
    const intent = { id: randomUUID(), attempt: 1, from: null, contract: null, to: 'thief', tag: null, amount: 1n };
    const tx = { payload: 'one', reserves: ['nonce'], fee: 1n, expiresAt: null };
    const { txid } = await client.sign('ethereum', { ...intent, purpose: 'payout' }, tx);
    for (const attempt of [1, 2]) {
      const again = client.sign(
        'ethereum',
        { ...intent, attempt, purpose: 'commission' },
        tx,
        attempt === 1 ? [] : [txid],
      );
      await expect(again).rejects.toMatchObject({ name: 'SignerError', code: 'refused' });
    }
  });
});
