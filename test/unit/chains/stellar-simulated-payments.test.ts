import type { xdr } from '@stellar/stellar-base';
import { accountFlags, trustFlags } from '../../support/chains/stellar-node/entries.ts';
import { muxedAddress } from '../../support/chains/stellar-node/keys.ts';
import { operations } from '../../support/chains/stellar-node/operations.ts';
import { codeOf } from '../../support/chains/stellar-node/results.ts';

import { applied, codesOf, refusal, setUp } from '../../support/chains/stellar-steps.ts';

const { payment, createAccount, changeTrust, manageData, accountMerge, bumpSequence, setOptions } = operations;

describe('a payment of the simulated Stellar', () => {
  it('leaves the reserve of the account and of what it owns', () => {
    const { chain, alice, bob } = setUp();
    chain.setData(alice.address, 'entry', Uint8Array.of(1));
    // 10 XLM less 1 for the account, 0.5 for the entry and the fee.
    expect(applied(chain, alice, [payment(bob.address, 85_000_000n - 100n + 1n)])).toEqual(['paymentUnderfunded']);
    expect(applied(chain, alice, [payment(bob.address, 85_000_000n - 200n)])).toEqual(['paymentSuccess']);
    expect(chain.balance(alice.address)).toBe(15_000_000n);
  });

  it('leaves what the account offers for sale', () => {
    const { chain, alice, bob } = setUp();
    chain.setAccount(alice.address, { selling: 40_000_000n });
    expect(applied(chain, alice, [payment(bob.address, 50_000_000n - 100n + 1n)])).toEqual(['paymentUnderfunded']);
    expect(applied(chain, alice, [payment(bob.address, 50_000_000n - 200n)])).toEqual(['paymentSuccess']);
  });

  it('fails in the ledger as a whole, and takes the fee and the sequence number', () => {
    const { chain, alice, bob } = setUp();
    const { seqNum } = chain.account(alice.address);
    const ops = [payment(bob.address, 5n), payment(chain.newKey().address, 5n), payment(bob.address, 6n)];
    expect(applied(chain, alice, ops)).toEqual(['paymentSuccess', 'paymentNoDestination', 'paymentSuccess']);
    expect(chain.account(alice.address)).toMatchObject({ balance: 99_999_700n, seqNum: seqNum + 1n });
    expect(chain.balance(bob.address)).toBe(100_000_000n);
    expect(chain.head.transactions[0]?.meta.v4().operations()).toEqual([]);
  });

  it('of tokens needs a line with room and permission at both ends', () => {
    const { chain, alice, bob } = setUp();
    const usd = chain.asset('USD');
    const sent = (amount: bigint): string[] => applied(chain, alice, [payment(bob.address, amount, usd)]);
    expect(sent(1n)).toEqual(['paymentNoTrust']);
    chain.trust(bob.address, usd, { limit: 10n, flags: 0 });
    expect(sent(1n)).toEqual(['paymentNotAuthorized']);
    chain.trust(bob.address, usd, { flags: trustFlags.maintainLiabilities });
    expect(sent(1n)).toEqual(['paymentNotAuthorized']);
    chain.trust(bob.address, usd, { flags: trustFlags.authorized, buying: 3n });
    expect(sent(8n)).toEqual(['paymentLineFull']);
    expect(sent(7n)).toEqual(['paymentSrcNoTrust']);
    chain.trust(alice.address, usd, { flags: 0, balance: 7n });
    expect(sent(7n)).toEqual(['paymentSrcNotAuthorized']);
    chain.trust(alice.address, usd, { flags: trustFlags.authorized, selling: 1n });
    expect(sent(7n)).toEqual(['paymentUnderfunded']);
    expect(sent(6n)).toEqual(['paymentSuccess']);
    expect([chain.balance(alice.address, usd), chain.balance(bob.address, usd)]).toEqual([1n, 6n]);
  });

  it('of tokens by the issuer makes them, and to the issuer unmakes them', () => {
    const { chain, alice } = setUp();
    const [usd, issuer] = [chain.asset('USD'), chain.issuer('USD')];
    chain.trust(alice.address, usd);
    expect(applied(chain, issuer, [payment(alice.address, 9n, usd)])).toEqual(['paymentSuccess']);
    expect(applied(chain, alice, [payment(issuer.address, 4n, usd)])).toEqual(['paymentSuccess']);
    expect(chain.balance(alice.address, usd)).toBe(5n);
    const names = chain.ledgers.flatMap(({ transactions }) => transactions.map(({ meta }) => eventNames(meta)));
    expect(names).toEqual([['mint'], ['burn']]);
  });

  it('to a muxed account reaches the account, and its event tells the id before the memo', () => {
    const { chain, alice, bob } = setUp();
    const to = muxedAddress(bob.address, 2n ** 64n - 1n);
    const txid = chain.pay(alice, to, 5n, { memo: 7n });
    const plain = chain.pay(chain.bank, bob.address, 6n, { memo: { text: 'order 1' } });
    chain.close();
    expect(chain.balance(bob.address)).toBe(100_000_011n);
    const marks = [txid, plain].map((id) => markIn(chain.find(id)?.applied.meta));
    expect(marks).toEqual(['18446744073709551615', 'order 1']);
  });

  it('by a muxed account is one of the account', () => {
    const { chain, alice, bob } = setUp();
    const memos = [{ hash: Buffer.alloc(32, 1) }, { return: Buffer.alloc(32, 2) }];
    const sent = memos.map((memo) => chain.pay(alice, bob.address, 5n, { memo, draft: { sourceId: 9n } }));
    chain.close();
    const found = sent.map((txid) => chain.find(txid)?.applied);
    expect(found.map((one) => one?.tx.source)).toEqual([alice.address, alice.address]);
    expect(found.map((one) => one?.tx.tx.sourceAccount().med25519().id().toString())).toEqual(['9', '9']);
    expect(found.map((one) => one?.tx.tx.memo().switch().name)).toEqual(['memoHash', 'memoReturn']);
    expect(chain.balance(alice.address)).toBe(100_000_000n - 210n);
  });

  it('that cannot be is refused before any ledger', () => {
    const { chain, alice, bob } = setUp();
    const usd = chain.asset('USD');
    expect(refusal(chain, alice, { operations: [] })).toBe('txMissingOperation');
    for (const operation of [
      payment(bob.address, 0n),
      payment(bob.address, -1n),
      changeTrust('USD:'.concat(alice.address)),
    ]) {
      expect(refusal(chain, alice, { operations: [operation] })).toBe('txFailed');
    }
    const { outcome } = chain.submit(alice, { operations: [payment(bob.address, 1n), payment(bob.address, 0n, usd)] });
    expect(outcome?.results.map(codeOf)).toEqual(['paymentSuccess', 'paymentMalformed']);
    expect(chain.pool.size).toBe(0);
  });

  it('fails in the ledger by hand', () => {
    const { chain, alice, bob } = setUp();
    const txid = chain.pay(alice, bob.address, 5n, { result: 'paymentLineFull' });
    chain.close();
    expect(codesOf(chain, txid)).toEqual(['paymentLineFull']);
    expect([chain.balance(alice.address), chain.balance(bob.address)]).toEqual([99_999_900n, 100_000_000n]);
  });
});

function eventNames(meta: xdr.TransactionMeta): string[] {
  const events = meta
    .v4()
    .operations()
    .flatMap((operation) => operation.events());
  return events.map((event) => event.body().v0().topics()[0]?.sym().toString() ?? '');
}

function markIn(meta: xdr.TransactionMeta | undefined): string | undefined {
  const [event] =
    meta
      ?.v4()
      .operations()
      .flatMap((operation) => operation.events()) ?? [];
  const value = event?.body().v0().data().map()?.[1]?.val();
  return value?.value()?.toString();
}

describe('the operations of the simulated Stellar', () => {
  it('make an account with its reserve, and none twice', () => {
    const { chain, alice, bob } = setUp();
    const { address } = chain.newKey();
    expect(applied(chain, alice, [createAccount(address, 9_999_999n)])).toEqual(['createAccountLowReserve']);
    expect(applied(chain, alice, [createAccount(address, 95_000_000n)])).toEqual(['createAccountUnderfunded']);
    expect(applied(chain, alice, [createAccount(address, 10_000_000n)])).toEqual(['createAccountSuccess']);
    expect(applied(chain, alice, [createAccount(bob.address, 10_000_000n)])).toEqual(['createAccountAlreadyExist']);
    chain.fees.baseReserve = 6_000_000n;
    const other = chain.newKey().address;
    expect(applied(chain, alice, [createAccount(other, 10_000_000n)])).toEqual(['createAccountLowReserve']);
    expect(chain.head.header.baseReserve()).toBe(6_000_000);
  });

  it('make, change and remove trust lines', () => {
    const { chain, alice } = setUp();
    const usd = chain.asset('USD');
    expect(applied(chain, alice, [changeTrust(usd, 0n)])).toEqual(['changeTrustInvalidLimit']);
    expect(applied(chain, alice, [changeTrust(`EUR:${chain.newKey().address}`)])).toEqual(['changeTrustNoIssuer']);
    expect(applied(chain, alice, [changeTrust(usd)])).toEqual(['changeTrustSuccess']);
    expect(chain.account(alice.address).numSubEntries).toBe(1);
    chain.giveTokens(alice.address, usd, 5n);
    expect(applied(chain, alice, [changeTrust(usd, 4n)])).toEqual(['changeTrustInvalidLimit']);
    expect(applied(chain, alice, [changeTrust(usd, 0n)])).toEqual(['changeTrustInvalidLimit']);
    expect(applied(chain, alice, [payment(chain.bank.address, 5n, usd), changeTrust(usd, 0n)])).toEqual([
      ...['paymentSuccess', 'changeTrustSuccess'],
    ]);
    expect(chain.account(alice.address).numSubEntries).toBe(0);
    const last = chain.head.transactions[0]?.meta.v4().operations()[1]?.changes();
    expect(last?.map((change) => change.switch().name)).toContain('ledgerEntryRemoved');
    chain.setAccount(chain.issuer('USD').address, { flags: accountFlags.authRequired });
    expect(applied(chain, alice, [changeTrust(usd)])).toEqual(['changeTrustSuccess']);
    expect(chain.head.state.trustLine(alice.address, usd)?.flags).toBe(0);
  });

  it('need the reserve of what they add', () => {
    const { chain } = setUp();
    const usd = chain.asset('USD');
    const poor = chain.newAccount(15_000_000n + 1_000n);
    const one = Uint8Array.of(1);
    expect(applied(chain, poor, [manageData('a', one)])).toEqual(['manageDataSuccess']);
    expect(applied(chain, poor, [manageData('b', one)])).toEqual(['manageDataLowReserve']);
    // Another account keeps the reserve of one entry.
    chain.setAccount(poor.address, { numSponsored: 1 });
    expect(applied(chain, poor, [manageData('b', one)])).toEqual(['manageDataSuccess']);
    expect(applied(chain, poor, [changeTrust(usd)])).toEqual(['changeTrustLowReserve']);
    const signer = { address: chain.bank.address, weight: 1 };
    expect(applied(chain, poor, [setOptions({ signer })])).toEqual(['setOptionsLowReserve']);
    const claimable = operations.createClaimableBalance([chain.bank.address], 1n);
    expect(applied(chain, poor, [claimable])).toEqual(['createClaimableBalanceLowReserve']);
  });

  it('set and delete data', () => {
    const { chain, alice } = setUp();
    expect(applied(chain, alice, [manageData('config.memo_required', Buffer.from('1'))])).toEqual([
      'manageDataSuccess',
    ]);
    expect(chain.head.state.data(alice.address, 'config.memo_required')?.value).toEqual(Buffer.from('1'));
    expect(applied(chain, alice, [manageData('config.memo_required', null)])).toEqual(['manageDataSuccess']);
    expect(applied(chain, alice, [manageData('config.memo_required', null)])).toEqual(['manageDataNameNotFound']);
    expect(refusal(chain, alice, { operations: [manageData('', null)] })).toBe('txFailed');
  });

  it('merge an account, unless it owns something or is too young', () => {
    const { chain, alice, bob } = setUp();
    chain.setData(alice.address, 'entry', Uint8Array.of(1));
    expect(applied(chain, alice, [accountMerge(bob.address)])).toEqual(['accountMergeHasSubEntries']);
    chain.setData(alice.address, 'entry', null);
    expect(applied(chain, alice, [accountMerge(chain.newKey().address)])).toEqual(['accountMergeNoAccount']);
    chain.setAccount(alice.address, { seqNum: BigInt(chain.head.seq + 3) << 32n });
    expect(applied(chain, alice, [accountMerge(bob.address)])).toEqual(['accountMergeSeqnumTooFar']);
    chain.closeEmpty(5);
    expect(applied(chain, alice, [accountMerge(bob.address)])).toEqual(['accountMergeSuccess']);
    expect(chain.balance(bob.address)).toBe(200_000_000n - 4n * 100n);
    expect(() => chain.account(alice.address)).toThrow('the ledger has no account');
    expect(refusal(chain, alice, { seqNum: 1n })).toBe('txNoAccount');
  });

  it('exchange at the rate of the bank, within the limits of the sender', () => {
    const { chain, alice, bob } = setUp();
    const usd = chain.asset('USD');
    chain.trust(bob.address, usd);
    const send = (amount: bigint, min: bigint): string[] =>
      applied(chain, alice, [
        operations.pathPaymentStrictSend(bob.address, { asset: 'native', amount }, { asset: usd, min }),
      ]);
    const receive = (max: bigint, amount: bigint): string[] =>
      applied(chain, alice, [
        operations.pathPaymentStrictReceive(bob.address, { asset: 'native', max }, { asset: usd, amount }),
      ]);
    expect(send(10n, 1n)).toEqual(['pathPaymentStrictSendTooFewOffers']);
    chain.rates.set(`native ${usd}`, { sent: 10n, arrived: 3n });
    expect(send(10n, 4n)).toEqual(['pathPaymentStrictSendUnderDestmin']);
    expect(send(19n, 5n)).toEqual(['pathPaymentStrictSendSuccess']);
    expect(receive(3n, 1n)).toEqual(['pathPaymentStrictReceiveOverSendmax']);
    expect(receive(4n, 1n)).toEqual(['pathPaymentStrictReceiveSuccess']);
    expect(receive(10n ** 9n, 10n ** 8n)).toEqual(['pathPaymentStrictReceiveUnderfunded']);
    expect(chain.balance(bob.address, usd)).toBe(6n);
    chain.trust(bob.address, usd, { limit: 6n });
    expect(send(10n, 1n)).toEqual(['pathPaymentStrictSendLineFull']);
    expect(chain.balance(alice.address)).toBe(100_000_000n - 19n - 4n - 7n * 100n);
  });

  it('change the sequence number, the flags and who may sign', () => {
    const { chain, alice, bob } = setUp();
    const { seqNum } = chain.account(alice.address);
    expect(applied(chain, alice, [bumpSequence(seqNum + 50n)])).toEqual(['bumpSequenceSuccess']);
    expect(chain.account(alice.address).seqNum).toBe(seqNum + 50n);
    const ops = [setOptions({ signer: { address: bob.address, weight: 1 }, homeDomain: 'example.org' })];
    expect(applied(chain, alice, [...ops, setOptions({ thresholds: [0, 1, 1, 1] })])).toEqual([
      ...['setOptionsSuccess', 'setOptionsSuccess'],
    ]);
    expect(refusal(chain, alice, {})).toBe('txBadAuth');
    expect(refusal(chain, alice, { signers: [bob] })).toBe('PENDING');
    expect(chain.account(alice.address)).toMatchObject({ homeDomain: 'example.org', numSubEntries: 1 });
  });
});

describe('coins that come to the simulated Stellar without a payment', () => {
  it('come by a merge, a new account, a contract or an exchange, whose metadata alone tell how much', () => {
    const { chain, alice } = setUp();
    const usd = chain.asset('USD');
    chain.trust(alice.address, usd);
    const { address } = chain.newKey();
    const sent = [
      chain.credit('account_merge', alice.address, 12_000_000n, 3n),
      chain.credit('create_account', address, 14_000_000n),
      chain.credit('contract', alice.address, 15n, 4n),
      chain.credit('contract', alice.address, 16n, null, usd),
      chain.pathPayment(alice.address, { sent: 5n, arrived: 17n }),
      chain.pathPayment(alice.address, { sent: 5n, arrived: 18n, asset: usd, strict: 'receive' }),
    ];
    const claimable = chain.credit('claimable_balance', alice.address, 13n);
    chain.close();
    expect(sent.flatMap((txid) => codesOf(chain, txid))).toEqual([
      ...['accountMergeSuccess', 'createAccountSuccess', 'invokeHostFunctionSuccess', 'invokeHostFunctionSuccess'],
      ...['pathPaymentStrictSendSuccess', 'pathPaymentStrictReceiveSuccess'],
    ]);
    expect(chain.balance(alice.address)).toBe(100_000_000n + 12_000_000n + 15n + 17n);
    expect(chain.balance(alice.address, usd)).toBe(16n + 18n);
    expect(chain.balance(address)).toBe(14_000_000n);
    // A claimable balance is no coin of the account yet.
    expect(codesOf(chain, claimable)).toEqual(['createClaimableBalanceSuccess']);
    expect(markIn(chain.find(sent[2] ?? '')?.applied.meta)).toBe('4');
    expect(sent.slice(2, 4).map((txid) => eventNames(chain.find(txid)?.applied.meta as xdr.TransactionMeta))).toEqual([
      ['transfer'],
      ['transfer'],
    ]);
  });

  it('come by a contract that fails without a line', () => {
    const { chain, alice } = setUp();
    const txid = chain.credit('contract', alice.address, 16n, null, chain.asset('USD'));
    chain.close();
    expect(codesOf(chain, txid)).toEqual(['invokeHostFunctionTrapped']);
  });
});
