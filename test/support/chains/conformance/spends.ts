import { txidDigits } from '../../../../src/chains/port/txid.ts';
import { type Bench, expectMined } from './bench.ts';

export function describeSpends(bench: Bench): void {
  describe('what a transaction took from the wallet that pays', () => {
    bench.test('is told from the mempool on until it is final, by each form of the txid', [], async () => {
      const payment = bench.intent({ tag: bench.chain.tag });
      const tx = await bench.signed(payment);
      expect(await bench.spent(tx.txid)).toBeNull();
      await bench.adapter.broadcast(tx);
      const amounts = [{ contract: null, amount: payment.amount }];
      const waiting = await bench.spent(tx.txid);
      if (bench.family.traits.mempool) {
        expect(waiting).toEqual({ amounts, fee: expect.any(BigInt), height: null, final: false });
        expect(waiting?.fee).toBeGreaterThan(0n);
      } else expect(waiting).toBeNull();

      await bench.chain.mine(1);
      const mined = expectMined(await bench.adapter.status(tx));
      const told = { amounts, fee: mined.fee, height: mined.height };
      expect(await bench.spent(tx.txid)).toEqual({ ...told, final: bench.adapter.finalityDepth <= 1 });
      await bench.chain.mine(bench.adapter.finalityDepth - 1);
      const digits = tx.txid.replace(/^0x/, '');
      // Base58 has one form.
      const forms = txidDigits(tx.txid) === null ? [] : [digits, digits.toUpperCase(), `0x${digits}`];
      for (const form of [tx.txid, ...forms]) {
        expect(await bench.spent(form)).toEqual({ ...told, final: true });
      }
    });

    bench.test('is a token, and the fee in the own coin', ['token'], async () => {
      const contract = bench.chain.token;
      const payment = bench.intent({ contract });
      const tx = await bench.signed(payment);
      await bench.adapter.broadcast(tx);
      const amounts = [{ contract, amount: payment.amount }];
      if (bench.family.traits.mempool) {
        expect(await bench.spent(tx.txid)).toMatchObject({ amounts, height: null });
      }
      await bench.chain.mine(1);
      expect(await bench.spent(tx.txid)).toMatchObject({
        amounts,
        fee: expectMined(await bench.adapter.status(tx)).fee,
      });
    });

    bench.test('is only the fee when the chain undid it', ['refusal'], async () => {
      const payment = bench.intent();
      await bench.chain.refuse?.(payment.to);
      const tx = await bench.signed(payment);
      await bench.adapter.broadcast(tx);
      await bench.chain.mine(1);
      const { fee, height, success } = expectMined(await bench.adapter.status(tx));
      expect(success).toBe(false);
      expect(await bench.spent(tx.txid)).toMatchObject({ amounts: [], fee, height });
    });

    bench.test('is nothing for coins that arrive, an unknown txid and a text that is none', [], async () => {
      const { address } = await bench.adapter.hotWallet();
      const txid = await bench.chain.pay(address, null, null, bench.unit);
      expect(await bench.spent(txid)).toBeNull();
      await bench.chain.mine(1);
      expect(await bench.spent(txid)).toBeNull();
      const digits = txid.replace(/^0x/, '');
      const malformed = ['', '0x', digits.slice(1), `${digits}0`, `${txid}:0`, `x${digits.slice(1)}`, `${txid}\n`];
      for (const text of ['ab'.repeat(32), ...malformed]) expect(await bench.spent(text)).toBeNull();
    });

    bench.test(
      'follows a reorganisation, and is nothing once the transaction is dropped',
      ['reorgs', 'mempool'],
      async () => {
        const payment = bench.intent();
        const tx = await bench.signed(payment);
        await bench.adapter.broadcast(tx);
        await bench.chain.mine(1);
        const first = await bench.spent(tx.txid);
        await bench.chain.reorg(1);
        const amounts = [{ contract: null, amount: payment.amount }];
        expect(await bench.spent(tx.txid)).toMatchObject({ amounts, height: null, final: false });
        await bench.chain.mine(1);
        const again = await bench.spent(tx.txid);
        expect(again).toMatchObject({ amounts });
        expect(again?.height).toBeGreaterThan(first?.height ?? Number.NaN);
        await bench.chain.reorg(2);
        await bench.chain.drop(tx.txid);
        expect(await bench.spent(tx.txid)).toBeNull();
      },
    );

    bench.test('is nothing for a transaction that another one replaced', ['conflict'], async () => {
      const tx = await bench.signed(bench.intent());
      await bench.adapter.broadcast(tx);
      const other = await bench.chain.conflict(tx);
      await bench.chain.mine(1);
      expect(await bench.spent(tx.txid)).toBeNull();
      expect(await bench.spent(other.txid)).toMatchObject({
        amounts: [{ contract: null }],
        fee: expectMined(await bench.adapter.status(other)).fee,
      });
    });
  });
}
