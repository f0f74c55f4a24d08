import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MoneroTransactions } from '../../../src/chains/monero/monero-transactions.ts';
import { MoneroWallet } from '../../../src/chains/monero/monero-wallet.ts';
import type { PaymentIntent, ScanResult, Transfer } from '../../../src/chains/port/chain-adapter.ts';
import { SignerError } from '../../../src/chains/port/signer.ts';
import { openLocalSigner } from '../../../src/signer/local-signer.ts';
import { MoneroHarness } from '../../support/chains/monero-harness.ts';
import { hasMonerod, type Monerod, startMonerod, withoutMonerod, xmr } from '../../support/chains/monerod.ts';
import { holding } from '../../support/gateway/holding.ts';

if (!hasMonerod()) {
  it.skip(`${withoutMonerod}: the cases were not tried on a node`, () => {}); // CI requires it
} else {
  describe('Monero on a node', () => {
    const entropy = randomBytes(32);
    const none = holding();
    let node: Monerod;
    let wallet: MoneroHarness;

    beforeAll(async () => {
      node = await startMonerod();
      wallet = new MoneroHarness(node, 1, entropy);
      await wallet.fund();
    }, 600_000);
    afterAll(() => node?.stop());

    const intent = (to: string, amount: bigint): PaymentIntent => {
      return { id: randomUUID(), attempt: 1, from: null, contract: null, to, tag: null, amount };
    };
    const hotBalance = async (): Promise<bigint> => {
      const [amount = -1n] = await wallet.adapter.balances([{ address: wallet.hotAddress, tag: null }], null);
      return amount;
    };
    const transfersOf = ({ blocks }: ScanResult): Transfer[] => blocks.flatMap(({ transfers }) => [...transfers]);
    const here = async () => wallet.adapter.start(await node.height());
    const limits = new Map([
      [
        'monero',
        {
          maxFee: xmr / 20n,
          feesPerDay: xmr,
          assets: new Map([['', { perPayment: 10n * xmr, perDay: 100n * xmr, commissionPerDay: xmr }]]),
        },
      ],
    ]);

    it('sees a deposit to the last of 400 subaddresses that unpaid orders have', async () => {
      const cursor = await here();
      wallet.addressAt(30);
      await wallet.adapter.scan(cursor, 10);
      const last = wallet.addressAt(400);
      const txid = await node.pay([[last, xmr]]);
      await node.mine(1);
      const found = transfersOf(await wallet.adapter.scan(cursor, 10)).filter(({ address }) => address === last);
      expect(found).toEqual([{ key: `${txid}:400`, txid, address: last, tag: null, contract: null, amount: xmr }]);
    }, 600_000);

    it('adds what one transaction brings to an address, and tells two addresses apart', async () => {
      const cursor = await here();
      const [one, other] = [wallet.ownAddress(), wallet.ownAddress()];
      const paid = [
        [one, xmr],
        [one, 2n * xmr],
        [other, 4n * xmr],
      ] as const;
      const txid = await node.pay(paid);
      await node.mine(1);
      const found = transfersOf(await wallet.adapter.scan(cursor, 10));
      expect(found.map(({ address, amount }) => [address, amount]).sort()).toEqual(
        [
          [one, 3n * xmr],
          [other, 4n * xmr],
        ].sort(),
      );
      expect(new Set(found.map(({ key }) => key)).size).toBe(2);
      expect(found.every((each) => each.txid === txid && each.doubt === undefined)).toBe(true);
    });

    it('tells coins that are locked, and block rewards, as of an unusual kind', async () => {
      const cursor = await here();
      const address = wallet.ownAddress();
      const txid = await node.pay([[address, xmr]], { unlock_time: 5_000 });
      expect((await wallet.adapter.pending([])).transfers.filter((one) => one.txid === txid)).toEqual([]);
      await node.mine(1);
      await node.mine(1, wallet.hotAddress);
      const found = transfersOf(await wallet.adapter.scan(cursor, 10));
      expect(found).toMatchObject([
        { txid, address, amount: xmr, doubt: 'unusual_kind' },
        { address: wallet.hotAddress, doubt: 'unusual_kind' },
      ]);
    });

    it('reads the same from a wallet file that was deleted and made again, and pays from it', async () => {
      const cursor = await wallet.adapter.start(1);
      const before = await wallet.adapter.scan(cursor, 10_000);
      const balance = await hotBalance();
      expect(transfersOf(before).length).toBeGreaterThan(3);
      await node.view.end();
      await rm(node.view.folder, { recursive: true });
      await node.view.restart();

      const adapter = wallet.another();
      expect(await adapter.scan(cursor, 10_000)).toEqual(before);
      expect(await adapter.balances([{ address: wallet.hotAddress, tag: null }], null)).toEqual([balance]);
      const payment = intent(node.address(), xmr / 10n);
      const tx = await wallet.sign(payment, await adapter.prepare(payment, none));
      expect((await adapter.broadcast(tx)).outcome).toBe('accepted');
      await node.mine(1);
      expect(await adapter.status(tx)).toMatchObject({ state: 'mined', success: true });
      expect(await node.balance(payment.to)).toBe(payment.amount);
    });

    it('sees deposits after a restart while the signer is away, in the wallet that is open', async () => {
      const cursor = await here();
      const address = wallet.ownAddress();
      await wallet.adapter.scan(cursor, 1);
      await node.pay([[address, xmr]]);
      await node.mine(1);
      const away = () => Promise.reject(new SignerError('unavailable', 'away'));
      const adapter = wallet.another({}, { viewKey: away, keyImages: away });
      const [found] = transfersOf(await adapter.scan(cursor, 10));
      expect(found).toMatchObject({ address, amount: xmr });
    });

    it('pays with a signer that was restored from its seed, whose offline wallet is new', async () => {
      await node.offline.end();
      await rm(node.offline.folder, { recursive: true });
      await node.offline.restart();
      const restored = new MoneroTransactions({ network: wallet.network, keys: wallet.keys });
      expect(restored.hotWallet('monero')).toBe(wallet.hotAddress);
      const before = await hotBalance();
      const payment = intent(node.address(), xmr / 10n);
      const tx = await wallet.sign(payment, await wallet.adapter.prepare(payment, none));
      expect((await wallet.adapter.broadcast(tx)).outcome).toBe('accepted');
      await node.mine(1);
      expect(await node.balance(payment.to)).toBe(payment.amount);
      const status = await wallet.adapter.status(tx);
      if (status.state !== 'mined') throw new Error(status.state);
      // The change is counted, and what was spent is not.
      expect(await hotBalance()).toBe(before - payment.amount - status.fee);
    });

    it('brings the signer no output that it had before its last payment', async () => {
      const told: (number | null)[] = [];
      const signer = wallet.signer();
      const adapter = wallet.another(
        {},
        {
          ...signer,
          keyImages: async (...asked) => {
            const found = (await signer.keyImages?.(...asked)) ?? null;
            told.push(found === null ? null : found.images.length);
            return found;
          },
        },
      );
      const pay = async (): Promise<void> => {
        const payment = intent(node.address(), xmr / 10n);
        const tx = await wallet.sign(payment, await adapter.prepare(payment, none));
        expect((await adapter.broadcast(tx)).outcome).toBe('accepted');
        await node.mine(1);
      };
      await wallet.fund();
      await pay();
      const before = (await wallet.view.outputs('all')).length;
      told.length = 0;
      await pay();
      const after = (await wallet.view.outputs('all')).length;
      expect(told).toEqual([after - before]);
      expect(before).toBeGreaterThan(after - before);
    });

    it('returns the bytes of the first signature whenever the same is asked for again', async () => {
      const dataDir = await mkdtemp(join(tmpdir(), 'monero-signer-'));
      const live = () => new Map([['monero', wallet.transactions]]);
      const payment = intent(node.address(), xmr / 10n);
      const prepared = await wallet.adapter.prepare(payment, none);
      const [one, other] = [await wallet.sign(payment, prepared), await wallet.sign(payment, prepared)];
      expect(one.txid).not.toBe(other.txid);

      const signer = await openLocalSigner({ entropy: Uint8Array.from(entropy), dataDir, live, limits });
      const [first, atOnce] = await Promise.all([
        signer.sign('monero', payment, prepared),
        signer.sign('monero', payment, prepared),
      ]);
      expect(atOnce).toEqual(first);
      await signer.close();
      const next = await openLocalSigner({ entropy: Uint8Array.from(entropy), dataDir, live, limits });
      expect(await next.sign('monero', payment, prepared)).toEqual(first);
      const changed = { ...payment, amount: payment.amount + 1n };
      await expect(next.sign('monero', changed, prepared)).rejects.toMatchObject({ code: 'refused' });
      expect(await next.sign('monero', payment, prepared)).toEqual(first);
      await next.close();
      await rm(dataDir, { recursive: true });
    });

    it('signs nothing but what was decided', async () => {
      const payment = intent(node.address(), xmr / 10n);
      const tx = await wallet.adapter.prepare(payment, none);
      const refusal = async (asked: PaymentIntent, given = tx): Promise<string> => {
        const { faults } = await wallet.transactions.open('monero', asked, given);
        return faults.join('; ');
      };
      expect(await refusal(payment)).toBe('');
      expect(await refusal({ ...payment, to: node.address() })).toContain('pays an address other');
      expect(await refusal({ ...payment, amount: payment.amount - 1n })).toContain('does not pay the amount');
      expect(await refusal({ ...payment, from: ['x:0'] })).toContain('nothing is swept');
      expect(await refusal(payment, { ...tx, fee: tx.fee + 1n })).toContain('not the one stated');
      expect(await refusal(payment, { ...tx, expiresAt: { height: 9 } })).toContain('expires');
      await expect(wallet.transactions.open('monero', payment, { ...tx, payload: 'abcd' })).rejects.toMatchObject({
        code: 'refused',
      });
      const lied = { ...tx, reserves: [`keyimage:${'0'.repeat(64)}`] };
      const opened = await wallet.transactions.open('monero', payment, lied);
      expect(opened.faults).toEqual([]);
      await expect(opened.sign()).rejects.toMatchObject({
        code: 'refused',
        message: expect.stringContaining('key images'),
      });
    });

    it('pays an integrated address with its payment id', async () => {
      const to = await node.integratedAddress();
      const payment = intent(to, xmr / 10n);
      const prepared = await wallet.adapter.prepare(payment, none);
      const tx = await wallet.sign(payment, prepared);
      expect((await wallet.adapter.broadcast(tx)).outcome).toBe('accepted');
      await node.mine(1);
      await node.users.rpc.call('refresh');
      const { transfer } = await node.users.rpc.call<{ transfer: { payment_id: string; amount: string } }>(
        'get_transfer_by_txid',
        { txid: tx.txid },
      );
      expect(transfer.amount).toBe(String(payment.amount));
      expect(transfer.payment_id).toMatch(/^(?!0000000000000000$)[0-9a-f]{16}$/);
    });

    it('waits for more coins where the unlocked and free ones do not suffice', async () => {
      const payment = intent(node.address(), 100_000n * xmr);
      await expect(wallet.adapter.prepare(payment, none)).rejects.toMatchObject({
        code: 'hot_wallet_low',
        retryable: true,
      });
    });

    it('tells a person that the wallet lacks subaddresses, or has the wallet of other keys open', async () => {
      const made = wallet.made;
      wallet.addressAt(made + 7);
      const [lacking] = await wallet.adapter.check();
      expect(lacking?.problems).toEqual([expect.stringContaining('lacks 7 subaddresses')]);
      await wallet.adapter.scan(await here(), 1);
      expect(await wallet.adapter.check()).toMatchObject([{ problems: [] }]);
      const stranger = new MoneroHarness(node, 1);
      const [other] = await stranger.adapter.check();
      expect(other?.problems).toEqual([expect.stringContaining('of other keys')]);
      await expect(stranger.adapter.scan(await here(), 1)).rejects.toMatchObject({ code: 'other_wallet' });
    });

    it('splits the change of a rich wallet, so that more payments can go out in the same ten blocks', async () => {
      const stranger = new MoneroHarness(node, await node.height());
      await wallet.view.close();
      await new MoneroWallet(wallet.network.offlineWallet ?? wallet.network.wallet).close();
      await node.pay([[stranger.hotAddress, 50n * xmr]]);
      await node.mine(10);
      const payment = intent(node.address(), xmr);
      const prepared = await stranger.adapter.prepare(payment, none);
      const tx = await stranger.sign(payment, prepared);
      expect((await stranger.adapter.broadcast(tx)).outcome).toBe('accepted');
      expect(await stranger.adapter.spent(tx.txid)).toEqual({
        amounts: [{ contract: null, amount: xmr }],
        fee: prepared.fee,
        height: null,
        final: false,
      });
      await node.mine(10);
      const held = holding();
      for (let count = 0; count < 12; count += 1) {
        const next = await stranger.adapter.prepare(intent(node.address(), xmr / 10n), held);
        for (const [key, one] of holding(...next.reserves)) held.set(key, one);
      }
      expect(held.size).toBe(12);
    });
  });
}
