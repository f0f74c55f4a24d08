import { operations } from '../../support/chains/stellar-node/operations.ts';
import { codeOf } from '../../support/chains/stellar-node/results.ts';
import { signFeeBump } from '../../support/chains/stellar-node/transaction.ts';
import { startStellar } from '../../support/chains/stellar-node.ts';

import { applied, refusal, setUp } from '../../support/chains/stellar-steps.ts';

const { payment } = operations;

describe('the rules of transactions of the simulated Stellar', () => {
  it('want the next sequence number, exactly', () => {
    const { chain, alice } = setUp();
    const next = chain.account(alice.address).seqNum + 1n;
    expect([next - 1n, next + 1n].map((seqNum) => refusal(chain, alice, { seqNum }))).toEqual(['txBadSeq', 'txBadSeq']);
    expect(refusal(chain, alice, { seqNum: next })).toBe('PENDING');
    chain.close();
    expect(refusal(chain, alice, { seqNum: next })).toBe('txBadSeq');
  });

  it('let in a transaction until its last second, and no longer', () => {
    const { chain, alice, bob } = setUp();
    const time = chain.head.closeTime;
    expect(refusal(chain, alice, { maxTime: time + 4 })).toBe('txTooLate');
    const [just, late] = [alice, bob].map((key, i) =>
      chain.submit(key, {
        operations: [payment(chain.bank.address, 1n)],
        maxTime: time + 20 - i,
      }),
    );
    expect([just?.status, late?.status]).toEqual(['PENDING', 'PENDING']);
    chain.setTime((time + 20) * 1_000);
    expect(chain.close().transactions.map(({ tx }) => tx.txid)).toEqual([just?.tx.txid]);
    expect(chain.head.closeTime).toBe(time + 20);
    expect(chain.pool.size).toBe(0);
  });

  it('do not let in a transaction before its first second', () => {
    const { chain, alice } = setUp();
    const time = chain.head.closeTime;
    expect(refusal(chain, alice, { minTime: time + 6 })).toBe('txTooEarly');
    expect(refusal(chain, alice, { minTime: time + 5 })).toBe('PENDING');
    expect(chain.close().transactions).toHaveLength(1);
  });

  it('want the base fee of each operation, and charge no more', () => {
    const { chain, alice, bob } = setUp();
    const two = [payment(bob.address, 1n), payment(bob.address, 1n)];
    expect(refusal(chain, alice, { operations: two, fee: 199n })).toBe('txInsufficientFee');
    chain.fees.baseFee = 150n;
    expect(refusal(chain, alice, { operations: two, fee: 299n })).toBe('txInsufficientFee');
    expect(applied(chain, alice, two, { fee: 5_000n })).toEqual(['paymentSuccess', 'paymentSuccess']);
    expect(chain.balance(alice.address)).toBe(100_000_000n - 300n - 2n);
    expect(refusal(chain, alice, { fee: 90_000_000n })).toBe('txInsufficientBalance');
  });

  it('want the signatures of all accounts that act, and no others', () => {
    const { chain, alice, bob } = setUp();
    const operation = payment(chain.bank.address, 1n, 'native', bob.address);
    const { outcome } = chain.submit(alice, { operations: [operation] });
    expect([outcome?.code, outcome?.results.map(codeOf)]).toEqual(['txFailed', ['opBadAuth']]);
    expect(refusal(chain, alice, { signers: [bob] })).toBe('txBadAuthExtra');
    const { address } = chain.newAccount();
    expect(refusal(chain, { address, pair: alice.pair }, {})).toBe('txBadAuth');
    expect(applied(chain, alice, [operation], { signers: [bob] })).toEqual(['paymentSuccess']);
    expect([chain.balance(alice.address), chain.balance(bob.address)]).toEqual([99_999_900n, 99_999_999n]);
    const elsewhere = startStellar({ passphrase: 'another' });
    const foreign = elsewhere.sign(elsewhere.newAccount(), { operations: [operation] });
    expect(chain.pool.submit(foreign).outcome?.code).not.toBe('txSuccess');
  });

  it('keep one transaction of an account waiting, unless a fee bump pays ten times as much', () => {
    const { chain, alice, bob } = setUp();
    const first = chain.submit(alice, { operations: [payment(bob.address, 1n)] }).tx;
    expect(chain.pool.submit(first).status).toBe('DUPLICATE');
    expect(refusal(chain, alice, {})).toBe('TRY_AGAIN_LATER');
    expect(refusal(chain, alice, { seqNum: first.seqNum, memo: 1n })).toBe('TRY_AGAIN_LATER');
    const bump = (fee: bigint): string => {
      const { status, outcome } = chain.pool.submit(signFeeBump(first.envelope, bob, fee, chain.passphrase));
      return outcome?.code ?? status;
    };
    // Ten times 100 stroops for one operation are 2,000 for what counts as two.
    expect([bump(1_999n), bump(2_000n), bump(19_999n)]).toEqual(['txInsufficientFee', 'PENDING', 'txInsufficientFee']);
    const txid = signFeeBump(first.envelope, bob, 2_000n, chain.passphrase).txid;
    expect([chain.pool.has(first.txid), chain.pool.size]).toEqual([true, 1]);
    const { transactions } = chain.close();
    expect(transactions.map(({ tx }) => tx.txid)).toEqual([txid]);
    expect(chain.find(first.txid)?.applied.tx.txid).toBe(txid);
    const result = transactions[0]?.result.result().innerResultPair();
    expect(result?.transactionHash().toString('hex')).toBe(first.txid);
    expect(result?.result().feeCharged().toString()).toBe('0');
    expect([chain.balance(alice.address), chain.balance(bob.address)]).toEqual([99_999_999n, 99_999_801n]);
  });

  it('want of a fee bump at least the rate of the transaction in it', () => {
    const { chain, alice, bob } = setUp();
    const { envelope } = chain.sign(alice, { operations: [payment(bob.address, 1n)], fee: 1_000n });
    const bumps = [1_999n, 2_000n].map((fee) => chain.pool.submit(signFeeBump(envelope, bob, fee, chain.passphrase)));
    expect(bumps.map(({ status, outcome }) => outcome?.code ?? status)).toEqual(['txInsufficientFee', 'PENDING']);
  });

  it('hold, release, drop and plant what a test says', () => {
    const { chain, alice, bob } = setUp();
    const held = chain.submit(alice, { operations: [payment(bob.address, 1n)] }).tx;
    const dropped = chain.submit(bob, { operations: [payment(alice.address, 1n)] }).tx;
    chain.hold(held.txid);
    chain.drop(dropped.txid);
    expect(chain.close().transactions).toHaveLength(0);
    expect(chain.pool.submit(held).status).toBe('DUPLICATE');
    const planted = chain.sign(alice, { operations: [payment(bob.address, 2n)], seqNum: held.seqNum });
    chain.plant(planted.base64);
    chain.pay(chain.bank, bob.address, 3n);
    expect(chain.close().transactions.map(({ tx }) => tx.txid)[0]).toBe(planted.txid);
    chain.release(held.txid);
    // Its sequence number is used up.
    expect(chain.close().transactions).toHaveLength(0);
    expect([chain.pool.has(held.txid), chain.find(held.txid)]).toEqual([false, null]);
  });
});
